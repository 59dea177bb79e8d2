"""What the programs of `work` and `blind` share: the figures of a moment, zeros, and the two modes of a program."""

import resource
import sys
from collections.abc import Callable

import torch


def run(make: Callable[[str], None], load: Callable[[str], None]) -> None:
    """`PROGRAM --make FOLDER` writes the real files, `PROGRAM SOURCE` loads them."""
    if sys.argv[1] == "--make":
        torch.manual_seed(0)
        make(sys.argv[2])
    else:
        load(sys.argv[1])


def show() -> None:
    """Prints the figures of this moment: PyTorch's for device 0, and the host's peak."""
    print("allocated", torch.cuda.memory_allocated())
    print("peak", torch.cuda.max_memory_allocated())
    print("reserved", torch.cuda.memory_reserved())
    print("host", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, flush=True)


def zero(model: torch.nn.Module) -> torch.nn.Module:
    """Fills all parameters and buffers with zeros."""
    with torch.no_grad():
        for tensor in model.state_dict().values():
            tensor.zero_()
    return model
