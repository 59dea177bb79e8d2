"""Standing in for an operator's kernel, with the original at hand."""

import functools
import warnings
from collections.abc import Callable

import torch

from .failure import guarded

# What an operator does without us: a function of its own arguments.
Original = Callable[..., object]


class Overrides:
    """Kernels that were replaced; they stay so for as long as this object lives."""

    def __init__(self) -> None:
        self._libraries: dict[str, torch.library.Library] = {}

    @guarded
    def replace(self, operator: str, key: str, stand_in: Callable) -> None:
        """Registers `stand_in(original, *args)` for `operator` (`aten::nonzero`) and the dispatch key (`CUDA`)."""
        kernel = torch.library.get_kernel(operator, key)

        def dispatch(keys, *args, **kwargs):
            return stand_in(functools.partial(kernel.call_boxed, keys), *args, **kwargs)

        namespace, name = operator.split("::")
        with warnings.catch_warnings():
            # PyTorch warns once that a kernel is replaced, which is what we are here for.
            warnings.filterwarnings("ignore", message="Warning only once for all operators")
            self._library(namespace).impl(name, dispatch, key, with_keyset=True)

    def _library(self, namespace: str) -> torch.library.Library:
        if namespace not in self._libraries:
            self._libraries[namespace] = torch.library.Library(namespace, "IMPL")
        return self._libraries[namespace]
