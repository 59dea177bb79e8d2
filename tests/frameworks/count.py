"""Runs a program and counts its device memory without oomph: from the live tensors.

    oomph phantom --gpu rtx-4090 -- python tests/frameworks/count.py --out FOLDER PROGRAM [ARGS]

After each optimizer step and at the end, `FOLDER/rankN.json` gets PyTorch's counters and the findings of Python's garbage collector: the
storages of all tensors, of parameters, gradients and optimizer states, and the unexplained blocks of the caching allocator. Nothing of the
agent runs here.
"""

import argparse
import gc
import json
import os
import runpy
import sys

import torch
from torch.optim import optimizer as optim

# PyTorch 2.11, aten/src/ATen/cuda/CublasHandlePool.cpp: for compute capability 8.9 the cuBLAS workspace is
# 2 x 4096 KiB + 8 x 16 KiB, the cuBLASLt workspace 1 MiB; one for each handle and stream.
WORKSPACES = {8_519_680, 1_048_576}


class Count:
    """The moments of one process, written after each."""

    def __init__(self, folder):
        rank = os.environ.get("RANK", os.environ.get("LOCAL_RANK", "0"))
        self.path = os.path.join(folder, f"rank{rank}.json")
        self.moments = []

    def note(self, name):
        """Writes a moment: counters first, before the collector frees cycles."""
        if not torch.cuda.is_initialized():
            return
        device = torch.cuda.current_device()
        peak, allocated = torch.cuda.max_memory_allocated(device), torch.cuda.memory_allocated(device)
        blocks = live_blocks(device)
        owners = holders(device, blocks)
        moment = {"moment": name, "peak": peak, "allocated": allocated}
        for kind in ("parameters", "optimizer_state", "tensors"):
            moment[kind] = sum(size for start, (size, _) in blocks.items() if kind in owners.get(start, ()))
        # In DDP's buckets gradients follow each other without rounding.
        held = [requested for start, (_, requested) in blocks.items() if "gradients" in owners.get(start, ())]
        moment["gradients"] = sum(held)
        rest = [block for start, block in blocks.items() if start not in owners]
        moment["workspaces"] = sum(size for size, requested in rest if requested in WORKSPACES)
        moment["others"] = sorted(requested for _, requested in rest if requested not in WORKSPACES)
        self.moments.append(moment)
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.moments, file)


def live_blocks(device):
    """Of the allocator's blocks in use: address, size, and how much of it was asked for."""
    segments = (segment for segment in torch.cuda.memory_snapshot() if segment["device"] == device)
    blocks = (block for segment in segments for block in segment["blocks"])
    used = (block for block in blocks if block["state"] == "active_allocated")
    return {block["address"]: (block["size"], block["requested_size"]) for block in used}


def holders(device, blocks):
    """The holders of each block, by its address: the kinds of tensors with a storage in the block."""
    found, starts = {}, sorted(blocks)
    for kind, tensor in alive():
        storage = storage_on(tensor, device)
        start = block_of(storage, starts, blocks) if storage else None
        if start is not None:
            found.setdefault(start, set()).update((kind, "tensors"))
    return found


def alive():
    """Every tensor known to Python, with its kind; the collector has no gradients."""
    for item in gc.get_objects():
        # Not `isinstance`, which asks objects for their `__class__`: some objects warn.
        kind = type(item)
        if issubclass(kind, torch.Tensor):
            what = "parameters" if issubclass(kind, torch.nn.Parameter) else "tensors"
            yield from ((what, part) for part in parts(item))
            if item.is_leaf and item.grad is not None:
                yield "gradients", item.grad
        elif issubclass(kind, torch.optim.Optimizer):
            yield from (("parameters", part) for group in item.param_groups for one in group["params"] for part in parts(one))
            states = [value for state in item.state.values() for value in state.values()]
            yield from (("optimizer_state", part) for value in states for part in parts(value))


def parts(value):
    """The tensors of a value that have memory: for a wrapper its parts."""
    if isinstance(value, torch.Tensor):
        flatten = getattr(value, "__tensor_flatten__", None)
        yield from [getattr(value, name) for name in flatten()[0]] if flatten else [value]


def storage_on(tensor, device):
    """The tensor's address, if it has memory on the device. Of a wrapper the parts are tensors of their own."""
    try:
        storage = tensor.untyped_storage()
        return storage.data_ptr() if storage.device.index == device and storage.nbytes() else None
    except (RuntimeError, NotImplementedError):
        return None


def block_of(address, starts, blocks):
    """The start of the block that holds an address."""
    low, high = 0, len(starts)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if starts[middle] <= address else (low, middle)
    start = starts[low - 1] if low else None
    return start if start is not None and address < start + blocks[start][0] else None


def main():
    """Runs the program as Python would, and counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("program")
    args, rest = parser.parse_known_args()
    count = Count(args.out)
    optim.register_optimizer_step_post_hook(lambda *_: count.note("step"))
    sys.argv = [args.program, *rest]
    sys.path[0] = os.path.dirname(os.path.abspath(args.program))
    kept = runpy.run_path(args.program, run_name="__main__")
    count.note("end")
    del kept


if __name__ == "__main__":
    main()
