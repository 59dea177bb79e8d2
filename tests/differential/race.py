"""Programs with free-running threads: their operations are read from PyTorch's history afterwards.

Every operation holds the allocator's lock, so the history is an order in which a single thread could have done the same
(`release_lock_on_cudamalloc` breaks this rule, and is left out). Only the end is compared in full: segments, history, statistics.
"""

import random
import sys
import threading

import torch

import plans

THREADS = 4


def play(plan: "plans.Plan", seed: str, machine, operations: int) -> None:
    """Runs threads that allocate and free at once, then records their operations in the order of the history."""
    sys.setswitchinterval(1e-6)
    chances = [random.Random(f"{seed}.{thread}") for thread in range(THREADS)]
    threads = [threading.Thread(target=work, args=(plan, chance, machine, operations // THREADS)) for chance in chances]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    machine.operations = list(serial(trace, machine))
    machine.counts = [[0, 0]] * len(machine.operations)
    machine.operations[-1][5] = machine.stats.changes()


def work(plan: "plans.Plan", chance: random.Random, machine, operations: int) -> None:
    """The work of a thread. Its remaining memory is kept, so that nothing is freed after the history is read."""
    held = []
    machine.tensors[threading.get_ident()] = held
    for _ in range(operations):
        share = sum(tensor.numel() for tensor in held) * THREADS / (plan.device_bytes * plan.fill)
        if held and chance.random() < 0.3 + 0.35 * share:
            del held[chance.randrange(len(held))]
            continue
        torch.cuda.set_stream(machine.streams[chance.randrange(plan.streams)])
        try:
            held.append(torch.empty(plans.size(plan, chance, []), dtype=torch.uint8, device="cuda"))
        except torch.OutOfMemoryError:
            pass


def serial(trace: list[dict], machine):
    """The operations that produce such a history when executed in sequence."""
    names = {}
    for number, entry in enumerate(trace):
        if entry["action"] == "alloc":
            names[entry["addr"]] = number
            yield ["alloc", number, entry["size"], machine.stream_of[entry["stream"]], machine._place(entry["addr"]), None]
        elif entry["action"] == "free_requested":
            yield ["free", names.pop(entry["addr"]), None, None, None, None]
        elif entry["action"] == "oom":
            # The history has the block size of the request, which rounds to itself.
            yield ["alloc", number, entry["size"], machine.stream_of[entry["stream"]], "OOM", None]
