"""Runs a program with every batch size from 1 on, on this process's phantom, and prints the sizes that fit.

    oomph phantom --gpu t4 --vram 1GiB -- python tests/remedies/scan.py PROGRAM MOST '["--batch-size", "{}"]'
    oomph phantom --gpu t4 --vram 1GiB -- python tests/remedies/scan.py PROGRAM MOST '{"batch_size = 2": "batch_size = {}"}'

The last word states how a size is passed: as arguments, or by changing the source. Each run is a fork of this process, which has imported
PyTorch and not used CUDA. Neither the agent nor a remedy takes part: this is the truth for the remedy and the search. Prints a JSON object:
`outside` (bytes that the GPU holds before PyTorch reserves any) and `fits` (a truth value for each size).
"""

import importlib
import json
import os
import sys
from pathlib import Path

import torch
import torch._dynamo  # noqa: F401 (optimizers import it when they first step)


def main() -> None:
    """Forks once for each size."""
    program, most, how = Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    source = program.read_text(encoding="utf-8")
    for name in ("torchvision", "transformers.models.gpt2.modeling_gpt2", "lightning", "accelerate"):
        if name.partition(".")[0] in source:
            importlib.import_module(name)
    fits = [in_a_fork(lambda size=size: int(fitting(program, source, how, size))) == 1 for size in range(1, most + 1)]
    outside = in_a_fork(held)
    print(json.dumps({"outside": outside, "fits": fits}))


def in_a_fork(function) -> int:
    """Runs the function in a process of its own and returns its result."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, str(function()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    return int(text)


def fitting(program: Path, source: str, how, size: int) -> bool:
    """True if the program ends without running out of memory; any other error fails the test."""
    if isinstance(how, dict):
        (old, new), *_ = how.items()
        assert source.count(old) == 1, f"`{old}` is {source.count(old)} times in {program}, expected once"
        source = source.replace(old, new.format(size))
    sys.argv = [str(program), *(word.format(size) for word in how if isinstance(how, list))]
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        exec(compile(source, program, "exec"), {"__name__": "__main__", "__file__": str(program)})
    except torch.OutOfMemoryError:
        return False
    return True


def held() -> int:
    """The bytes in use on a GPU on which PyTorch has reserved nothing."""
    free, total = torch.cuda.mem_get_info()
    return total - free


if __name__ == "__main__":
    main()
