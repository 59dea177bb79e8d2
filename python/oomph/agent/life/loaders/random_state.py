"""The random numbers of the program, unchanged by code of the program that runs early."""

import contextlib
import random
import sys
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Restores the states of `random`, NumPy and PyTorch's generator of the CPU."""
    numpy = sys.modules.get("numpy.random")
    python_state, torch_state = random.getstate(), torch.get_rng_state()
    numpy_state = None if numpy is None else numpy.get_state()
    try:
        yield
    finally:
        random.setstate(python_state)
        torch.set_rng_state(torch_state)
        if numpy_state is not None:
            numpy.set_state(numpy_state)
