"""PyTorch's statistics, segments and trace in the compact form of the README."""

import torch


class Stats:
    """The statistics of `torch.cuda.memory_stats`, as changes from one operation to the next."""

    def __init__(self):
        self.names = list(names(torch._C._cuda_memoryStats(0)))
        self.last = [0] * len(self.names)
        self.counters = [self.names.index(f"allocation.all.{sum}") for sum in ("allocated", "freed")]

    def changes(self) -> list[int]:
        """`[index, value, index, value …]` of the statistics that changed since the last call."""
        now = values(torch._C._cuda_memoryStats(0))
        if now == self.last:
            return []
        changed = [part for index, (old, new) in enumerate(zip(self.last, now, strict=True)) if old != new for part in (index, new)]
        self.last = now
        return changed

    def counts(self) -> list[int]:
        """The number of blocks allocated and freed before the last call of `changes`; resets restart the count."""
        return [self.last[counter] for counter in self.counters]


def with_inner(operations: list, counts: list, trace: list) -> list:
    """The operations, each after the allocations and frees that PyTorch made itself for the operation.

    A capture has two tensors for the state of its random numbers. Such operations have no statistics of their own.
    """
    entries = iter([entry for entry in trace if entry[0] in ("alloc", "free_requested")])
    found, inner, last = [], Inner(), [0, 0]
    for operation, now in zip(operations, counts, strict=True):
        done = 0 if operation[0] == "reset_accumulated" else sum(now) - sum(last)
        own = operation[0] == "free" or operation[0] == "alloc" and isinstance(operation[4], list)
        meant = [next(entries) for _ in range(done)]
        if not own:
            found.extend(inner.operation(entry) for entry in meant)
        found.append(operation)
        last = now
    return found


class Inner:
    """Names of PyTorch's own allocations: negative numbers."""

    def __init__(self):
        self.names = {}
        self.last = 0

    def operation(self, entry: list) -> list:
        """The operation of an entry of the history."""
        action, address, size, stream = entry
        if action == "free_requested":
            return ["free", self.names[tuple(address)], None, None, None, None]
        self.last -= 1
        self.names[tuple(address)] = self.last
        return ["alloc", self.last, size, stream, address, None]


# Has a key for each private pool, so its length changes; the segments of a snapshot have the same information.
LEFT_OUT = "reserved_bytes_by_private_pools"


def names(tree: dict, prefix: str = ""):
    """The keys of `memory_stats`, in the order of `values`."""
    for key, value in tree.items():
        if isinstance(value, dict):
            if key != LEFT_OUT:
                yield from names(value, f"{prefix}{key}.")
        else:
            yield prefix + key


def values(tree: dict) -> list[int]:
    """The values of `memory_stats`: at most three levels, walked without recursion for speed."""
    found = []
    for key, value in tree.items():
        if type(value) is not dict:
            found.append(value)
        elif key != LEFT_OUT:
            for inner in value.values():
                if type(inner) is dict:
                    found.extend(inner.values())
                else:
                    found.append(inner)
    return found


def segments(snapshot: dict, machine) -> list[dict]:
    """The segments, with blocks as `[size, state, requested]`."""
    return [segment(raw, machine) for raw in snapshot["segments"]]


def segment(raw: dict, machine) -> dict:
    """One segment."""
    return {
        "addr": machine._place(raw["address"]),
        "total": raw["total_size"],
        "stream": machine.stream_of[raw["stream"]],
        "type": raw["segment_type"],
        "pool": list(raw["segment_pool_id"]),
        "expandable": raw["is_expandable"],
        "blocks": [[block["size"], block["state"], block["requested_size"]] for block in raw["blocks"]],
    }


def allocated(segment: dict):
    """The addresses of the program's blocks."""
    offset = segment["addr"][1]
    for size, state, _ in segment["blocks"]:
        if state == "active_allocated":
            yield offset
        offset += size


def trace(snapshot: dict, machine) -> list[list]:
    """The memory history as `[action, address, size, stream]`; of an `oom` the free bytes stand in place of the address."""
    return [entry(raw, machine) for raw in snapshot["device_traces"][0]]


def entry(raw: dict, machine) -> list:
    """One entry."""
    action = raw["action"]
    where = raw["device_free"] if action == "oom" else raw["addr"]
    if action not in ("oom", "snapshot"):
        where = machine._place(where)
    return [action, where, raw["size"], machine.stream_of[raw["stream"]]]
