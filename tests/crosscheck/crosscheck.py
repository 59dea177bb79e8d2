"""Holds the phantom's memory against two accounts that are not oomph's own.

    oomph phantom --gpu rtx-4090 -- python tests/crosscheck/crosscheck.py [NAME ...]

1. Tensors. At moments without an autograd graph every byte on the device belongs to a tensor that the garbage
   collector knows, or to a workspace of cuBLAS. So the blocks of the caching allocator must be exactly the distinct
   storages of those tensors, each rounded as the allocator rounds, and workspaces of the known sizes; and their sum
   must be `torch.cuda.memory_allocated()`. Each moment's equality that fails is printed.
2. `torch.distributed._tools.mem_tracker.MemTracker`, PyTorch's own estimate of the peak from the tensors that pass
   its dispatcher. It sees no workspaces and no temporaries inside operators, so it must never exceed the peak.

Exit status 0: all equalities hold; 1: not.
"""

import gc
import sys
import warnings

import torch
from torch.distributed._tools.mem_tracker import MemTracker

from programs import PROGRAMS

# PyTorch 2.11, aten/src/ATen/cuda/CublasHandlePool.cpp: for compute capability 8.9 the cuBLAS workspace is
# 2 x 4096 KiB + 8 x 16 KiB, the cuBLASLt workspace 1 MiB. One of each per thread: the program's and autograd's.
WORKSPACES = {8_519_680: "cuBLAS", 1_048_576: "cuBLASLt"}
WORKSPACES_OF_A_KIND = 2
# PyTorch 2.11, c10/cuda/CUDACachingAllocator.h: blocks are multiples of 512 B; a large block is not split if 1 MiB or less would be left.
ROUNDING = 512
LARGE_SLACK = 1 << 20


def main():
    """Checks every program, or the named programs, at every moment, then its peak."""
    programs = {name: build for name, build in PROGRAMS.items() if name in (sys.argv[1:] or PROGRAMS)}
    warnings.filterwarnings("ignore", module="torch.distributed")
    problems = []
    print(f"{'program':24} {'moment':10} {'tensors':>8} {'their bytes':>14} {'workspaces':>12} {'allocated':>14}")
    for name, build in programs.items():
        problems += moments(name, build)
    print(f"\n{'program':24} {'peak':>14} {'MemTracker':>14} {'workspaces':>12} {'inside operators, slack':>24}")
    peaks = {name: peak(build) for name, build in programs.items()}
    for name, build in programs.items():
        problems += compare_peaks(name, build, *peaks[name])
    drop_callbacks()
    print("\n".join(problems))
    print(f"{len(programs)} programs, {len(problems)} problems")
    return 1 if problems else 0


def moments(name, build):
    """The first check at four moments of a program's life."""
    release()
    problems = []
    model, optimizer, loss = build()
    problems += compare(name, "created")
    with torch.no_grad():
        loss()
    problems += compare(name, "inference")
    for _ in range(2):
        loss().backward()
        problems += compare(name, "backward")
        optimizer.step()
        optimizer.zero_grad()
        problems += compare(name, "stepped")
    return problems


def compare(name, moment):
    """Compares the allocator's blocks with the live storages; prints a line, returns the failed equalities."""
    gc.collect()
    storages, blocks = live_storages(), live_blocks()
    problems = []
    for address, nbytes in storages.items():
        block = blocks.pop(address, None)
        if block is None:
            problems.append(f"a tensor of {nbytes} B has no block")
        elif not is_rounded(nbytes, block["size"]):
            problems.append(f"a tensor of {nbytes} B has a block of {block['size']} B")
    workspaces = [block["requested_size"] for block in blocks.values()]
    for size in set(workspaces):
        if size not in WORKSPACES or workspaces.count(size) > WORKSPACES_OF_A_KIND:
            problems.append(f"{workspaces.count(size)} blocks of {size} B belong to no tensor and no known workspace")
    problems += sums(storages, workspaces)
    allocated = torch.cuda.memory_allocated()
    numbers = f"{len(storages):8} {sum(storages.values()):14,} {sum(workspaces):12,} {allocated:14,}"
    print(f"{name:24} {moment:10} {numbers}")
    return [f"{name}, {moment}: {problem}" for problem in problems]


def sums(storages, workspaces):
    """The totals: requested bytes are those of live storages; allocated bytes exceed them by rounding alone."""
    requested = torch.cuda.memory_stats()["requested_bytes.all.current"]
    alive = sum(storages.values()) + sum(workspaces)
    if requested != alive:
        yield f"expected {alive} requested bytes, found {requested}"
    rounded = sum(round_up(size) for size in [*storages.values(), *workspaces])
    slack = sum(block["size"] - round_up(block["requested_size"]) for block in live_blocks().values())
    if torch.cuda.memory_allocated() != rounded + slack:
        yield f"expected {rounded} + {slack} allocated bytes, found {torch.cuda.memory_allocated()}"


def live_storages():
    """Address and size of every distinct CUDA storage that a Python object or a gradient holds."""
    found = {}
    for item in gc.get_objects():
        if not isinstance(item, torch.Tensor):
            continue
        for tensor in (item, item.grad if item.is_leaf else None):
            if tensor is not None and tensor.is_cuda and tensor.untyped_storage().nbytes():
                storage = tensor.untyped_storage()
                found[storage.data_ptr()] = storage.nbytes()
    return found


def live_blocks():
    """The allocator's blocks in use, by address."""
    segments = torch.cuda.memory_snapshot()
    blocks = (block for segment in segments for block in segment["blocks"])
    return {block["address"]: block for block in blocks if block["state"] == "active_allocated"}


def is_rounded(nbytes, size):
    """True if the allocator would use a block of this size for the request."""
    exact = round_up(nbytes)
    return size == exact or (exact > LARGE_SLACK and exact < size <= exact + LARGE_SLACK)


def round_up(nbytes):
    """The allocator's rounding of a request."""
    return max(1, -(-nbytes // ROUNDING)) * ROUNDING


def peak(build):
    """The peak of two training steps, and the workspaces among it."""
    release()
    if torch.cuda.memory_reserved():
        raise RuntimeError(f"expected an empty allocator, found {torch.cuda.memory_reserved()} B reserved")
    torch.cuda.reset_peak_memory_stats()
    train(*build()[1:])
    workspaces = [block["size"] for block in live_blocks().values() if block["requested_size"] in WORKSPACES]
    return torch.cuda.max_memory_allocated(), sum(workspaces)


def compare_peaks(name, build, peak, workspaces):
    """Prints the peak beside MemTracker's of the same program; returns a problem if MemTracker's is greater.

    All peaks were measured before: a MemTracker keeps its model alive.
    """
    model, optimizer, loss = build()
    tracker = MemTracker()
    tracker.track_external(model, optimizer)
    with tracker:
        train(optimizer, loss, tracker.reset_mod_stats)
    tracked = tracker.get_tracker_snapshot("peak")[torch.device("cuda", 0)]["Total"]
    print(f"{name:24} {peak:14,} {tracked:14,} {workspaces:12,} {peak - tracked - workspaces:24,}")
    return [f"{name}: MemTracker saw {tracked} B, more than the peak of {peak} B"] if tracked > peak else []


def drop_callbacks():
    """Makes the thread of autograd's device release the callbacks that MemTracker queued, before Python ends.

    PyTorch 2.11, torch/csrc/autograd/python_engine.cpp (`THPEngine_queue_callback`): a callback's last reference may be that thread's, and
    dropping it takes the GIL. After `Py_Finalize` has begun, this ends the process with "terminate called without an active exception", on
    a GPU as here. The thread releases a backward pass before the next begins, and the pass here has no callback.
    """
    torch.ones(1, device="cuda", requires_grad=True).sum().backward()


def train(optimizer, loss, before_step=lambda: None):
    """Two training steps."""
    for _ in range(2):
        before_step()
        loss().backward()
        optimizer.step()
        optimizer.zero_grad()


def release():
    """Returns all memory to the device."""
    gc.collect()
    torch._C._cuda_clearCublasWorkspaces()
    torch.cuda.empty_cache()


if __name__ == "__main__":
    sys.exit(main())
