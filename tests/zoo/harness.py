"""Runs a file of small PyTorch programs in order and notes the peak memory of each.

The programs know nothing of oomph: any CUDA device will do. A file of the zoo builds a list of `Program`s and calls `main`. Each program
starts from an empty caching allocator, so that its peak depends on no earlier program.
"""

import argparse
import faulthandler
import functools
import gc
import json
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass

import torch

SECONDS_FOR_ONE = 300
SGD = "sgd"
ADAMW = "adamw"
OPTIMIZERS = {SGD: functools.partial(torch.optim.SGD, lr=0.01, momentum=0.9), ADAMW: torch.optim.AdamW}


@dataclass(frozen=True)
class Program:
    """A program: `run(precision)`, called once for each of its precisions."""

    name: str
    run: Callable[[str], None]
    precisions: tuple[str, ...]


def training(name, build, precisions, optimizer=SGD):
    """A program of a single training step; `build()` returns the model and a function that computes its output."""

    def run(precision):
        with torch.device("cuda"):
            model, forward = build()
        train_step(model.train().cuda(), forward, precision, optimizer)

    return Program(name, run, precisions)


def train_step(model, forward, precision, optimizer=SGD):
    """One training step in fp32, or under autocast in bf16, or in fp16 with a GradScaler.

    A model without parameters has nothing to step: its step ends with the backward pass.
    """
    scaler = torch.amp.GradScaler("cuda", enabled=precision == "fp16")
    with autocast(precision):
        loss = total(forward(model))
    scaler.scale(loss).backward()
    parameters = [p for p in model.parameters() if p.requires_grad]
    if parameters:
        stepper = OPTIMIZERS[optimizer](parameters)
        scaler.step(stepper)
        scaler.update()
        stepper.zero_grad()


def autocast(precision):
    """The autocast context of a precision; none for fp32."""
    dtypes = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}
    return torch.autocast("cuda", dtypes[precision]) if dtypes[precision] else nullcontext()


def total(output):
    """A loss out of any model's output: its own loss, else the mean of every tensor with a gradient."""
    loss = getattr(output, "loss", None)
    if isinstance(loss, torch.Tensor):
        return loss
    means = [tensor.float().mean() for tensor in tensors(output) if tensor.requires_grad]
    if not means:
        raise ValueError(f"expected an output with a gradient, found {type(output).__name__} without one")
    return sum(means)


def tensors(value):
    """All tensors in nested sequences, mappings and model outputs."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from tensors(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors(item)


def main(programs):
    """Runs the programs named on the command line (default: all); exits with 1 if any failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME", help="run these alone")
    parser.add_argument("--part", default="0/1", metavar="K/N", help="run every N-th program alone, from the K-th on")
    parser.add_argument("--one-precision", action="store_true", help="run each program in one of its precisions alone, in turn")
    parser.add_argument("--out", help="append one JSON line per run to this file")
    args = parser.parse_args()
    duplicates = len(programs) - len({program.name for program in programs})
    if duplicates:
        sys.exit(f"{duplicates} programs share a name with another")
    unknown = set(args.names) - {program.name for program in programs}
    if unknown:
        sys.exit(f"no such program: {', '.join(sorted(unknown))}")
    chosen = [program for program in programs if not args.names or program.name in args.names]
    part, parts = map(int, args.part.split("/"))
    numbered = list(enumerate(chosen))[part::parts]
    runs = [(p, precision) for number, p in numbered for precision in precisions_of(p, number if args.one_precision else None)]
    results = [run_one(p, precision, args.out) for p, precision in runs]
    failed = sum("error" in result for result in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def precisions_of(program, turn):
    """The precisions to run: all, or the one of this turn.

    Compiled programs always take their first: a second precision would find the first's benchmarks in the cache and have no peak of its
    own.
    """
    if turn is None:
        return program.precisions
    turn = 0 if program.name.startswith("compile") else turn % len(program.precisions)
    return program.precisions[turn : turn + 1]


def run_one(program, precision, out):
    """Runs a program in a precision; prints and notes its peaks, or its traceback."""
    result = {"name": program.name, "precision": precision}
    faulthandler.dump_traceback_later(SECONDS_FOR_ONE, exit=True)
    start = time.perf_counter()
    try:
        fresh()
        program.run(precision)
        torch.cuda.synchronize()
        result["allocated"] = torch.cuda.max_memory_allocated()
        result["reserved"] = torch.cuda.max_memory_reserved()
    except Exception:
        result["error"] = traceback.format_exc()
    faulthandler.cancel_dump_traceback_later()
    note(result, time.perf_counter() - start, out)
    return result


def fresh():
    """Brings the caching allocator back to the state of a new process, and checks the state."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    release()
    if torch.cuda.memory_reserved():
        clear_model_caches()
        release()
    left = torch.cuda.memory_reserved()
    if left:
        raise RuntimeError(f"expected an empty allocator, found {left} B reserved by the programs before this one")
    torch.cuda.reset_peak_memory_stats()


def release():
    """Returns all unused memory to the device."""
    gc.collect()
    torch._C._cuda_clearCublasWorkspaces()
    torch.cuda.empty_cache()


def clear_model_caches():
    """Empties the function caches of model code: some keep a position embedding, or the model itself, forever."""
    for item in gc.get_objects():
        if isinstance(item, functools._lru_cache_wrapper) and item.__module__.startswith("transformers.models"):
            item.cache_clear()


def note(result, seconds, out):
    """Prints one line of the table (with the traceback of a failure) and appends the JSON line."""
    line = f"{result['name']:40} {result['precision']:5}"
    if "error" in result:
        print(f"{line} FAILED\n{result['error']}", flush=True)
    else:
        print(f"{line} {result['allocated']:14,} {result['reserved']:14,} {seconds:6.2f} s", flush=True)
    if out:
        with open(out, "a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
