"""Blocks with known sizes under `oomph.watch`; prints `all is so` at its end. Sizes in MiB of the peak, of the growth and so on: by hand."""

import os
import sys
import threading

import oomph
import torch

MIB = 1 << 20
HERE = os.path.abspath(__file__)
held = {}


def make(name, size):
    """Holds `size` MiB on the GPU."""
    held[name] = torch.empty(size * MIB, dtype=torch.uint8, device="cuda")


def expect(memory, *, peak, before, after):
    """Compares the figures of a block, in MiB."""
    found = memory.peak_allocated_bytes, memory.allocated_before_bytes, memory.allocated_after_bytes, memory.grown_bytes
    assert found == (peak * MIB, before * MIB, after * MIB, (after - before) * MIB), found


def in_lines(lines):
    """Each line's MiB and number of blocks."""
    assert {it.file for it in lines} <= {HERE}, lines
    return [(it.bytes / MIB, it.blocks) for it in lines]


def watch_blocks():
    """Allocations and frees, and a block in the block."""
    make("old", 100)
    with oomph.watch() as memory:
        make("a", 64)
        expect(memory, peak=164, before=100, after=164)
        make("b", 200)
        del held["b"]
        with oomph.watch(0) as inner:
            make("c", 10), make("d", 5)
            del held["c"]
        del held["old"]
    expect(memory, peak=364, before=100, after=69)
    expect(inner, peak=179, before=164, after=169)
    assert in_lines(memory.lines) == [(69, 2)] and in_lines(memory.peak_lines) == [(264, 2)], (memory.lines, memory.peak_lines)
    assert in_lines(inner.lines) == [(5, 1)] and in_lines(inner.peak_lines) == [(15, 2)], (inner.lines, inner.peak_lines)
    assert memory.peak_reserved_bytes == torch.cuda.max_memory_reserved(), memory.peak_reserved_bytes
    first = str(memory).splitlines()[0]
    assert first == "364.00 MiB allocated at the peak of the block, 264.00 MiB more than before; 31.00 MiB fewer stay after it", first
    # PyTorch's counters know of no block.
    assert torch.cuda.max_memory_allocated() == 364 * MIB, torch.cuda.max_memory_allocated()


def watch_training():
    """A backward, whose gradient is allocated by a thread without a Python stack: 4 MiB of weights, as many of gradients."""
    held.clear()
    weights = torch.ones(1024, 1024, device="cuda", requires_grad=True)
    before = torch.cuda.memory_allocated()
    with oomph.watch("cuda:0") as memory:
        (weights * weights).sum().backward()
    assert memory.grown_bytes == 4 * MIB == torch.cuda.memory_allocated() - before, memory.grown_bytes
    assert memory.peak_allocated_bytes == torch.cuda.max_memory_allocated() or torch.cuda.max_memory_allocated() == 364 * MIB


def watch_threads():
    """Watches that begin and end in several threads: each sees the process."""
    held.clear()
    barrier, found = threading.Barrier(2), []

    def work(name):
        with oomph.watch() as memory:
            barrier.wait()
            make(name, 32)
            barrier.wait()
        found.append(memory)

    threads = [threading.Thread(target=work, args=(name,)) for name in "xy"]
    for it in threads:
        it.start()
    for it in threads:
        it.join()
    assert [it.grown_bytes for it in found] == [64 * MIB] * 2, found


def watch_errors():
    """An out-of-memory error passes through, and the figures stay."""
    held.clear()
    torch.cuda.empty_cache()
    try:
        with oomph.watch() as memory:
            make("a", 8)
            make("b", 64 << 10)
    except torch.OutOfMemoryError:
        pass
    assert memory.grown_bytes == 8 * MIB and memory.peak_allocated_bytes == 8 * MIB + memory.allocated_before_bytes, memory


def watch_beside_a_history():
    """The program's own history has its events, no more and no fewer."""
    held.clear()
    torch.cuda.memory._record_memory_history(max_entries=1000)
    make("a", 4)
    with oomph.watch():
        make("b", 4)
    make("c", 4)
    events = torch.cuda.memory._snapshot()["device_traces"][0]
    torch.cuda.memory._record_memory_history(enabled=None)
    allocs = [it for it in events if it["action"] == "alloc"]
    assert len(allocs) == 3 and all(it["frames"] for it in allocs), allocs


def watch_in_a_child():
    """A forked child does not write into the parent's recording."""
    with oomph.watch() as memory:
        make("e", 16)
        child = os.fork()
        if child == 0:
            os._exit(0 if refuses(lambda: memory.peak_allocated_bytes, "parent process") else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert memory.lines[0].bytes == 16 * MIB, memory.lines


def refuses(work, text):
    """True if `work` raises oomph's error with this text."""
    try:
        work()
    except oomph.OomphError as error:
        return text in str(error)
    return False


def watch_wrongly():
    """Devices that are none, a block that has not begun, a watch in itself."""
    for device, text in (("cpu", "`cpu` is not a GPU"), (3, "which has 1"), ("tpu", "`tpu` is not a device"), ("cuda:9", "which has 1")):
        assert refuses(oomph.watch(device).__enter__, text), device
    memory = oomph.watch()
    assert refuses(lambda: memory.lines, "has not begun")
    with memory:
        assert refuses(memory.__enter__, "is open")


def watch_too_much():
    """More events than are kept: the figures are refused, and the next watch has its own."""
    with oomph.watch() as memory:
        for _ in range(int(sys.argv[1])):
            make("a", 1)
    assert refuses(lambda: memory.peak_allocated_bytes, "more than 4,096 allocations and frees") and "watch a shorter part" in str(memory)
    with oomph.watch() as memory:
        make("f", 2)
    assert memory.lines[0].bytes == 2 * MIB, memory.lines


if len(sys.argv) > 1:
    from oomph.agent.live import recorder

    recorder._EVENTS = 4096
    watch_too_much()
else:
    watch_blocks()
    watch_training()
    watch_threads()
    watch_errors()
    if not oomph.is_recording():
        watch_beside_a_history()
    watch_in_a_child()
    watch_wrongly()
print("all is so")
