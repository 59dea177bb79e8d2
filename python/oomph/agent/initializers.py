"""Skips random initialisation: over a phantom GPU no value is ever computed, so no random number is needed.

Only the in-place samplers of initialisers are skipped, on large host tensors, which then hold zeros and cost nothing (Note [Holes]);
`randint`, `randperm` and `random_` run, because their values are indices.
"""

import functools

import torch

from .holes import Holes, is_dense, is_large
from .overrides import Original, Overrides

# `erfinv_` is the second half of `trunc_normal_`.
_SAMPLERS = ("normal_", "uniform_", "bernoulli_.float", "exponential_", "log_normal_", "cauchy_", "erfinv_")


class Initializers:
    """Skips initialisers, and counts the calls and bytes."""

    def __init__(self, holes: Holes) -> None:
        self.holes = holes
        self.count = 0
        self.bytes = 0

    def install(self, overrides: Overrides) -> None:
        """Replaces the samplers for the CPU, and the initialisers that do much besides sampling."""
        for sampler in _SAMPLERS:
            overrides.replace(f"aten::{sampler}", "CPU", self._skip_if_large)
        for name in ("orthogonal_", "_no_grad_trunc_normal_"):
            setattr(torch.nn.init, name, self._skipping(getattr(torch.nn.init, name)))

    def _skipping(self, initialise: Original) -> Original:
        @functools.wraps(initialise)
        def wrapper(tensor, *args, **kwargs):
            # A tensor that only pretends to have memory also reports the device CPU.
            if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
                return initialise(tensor, *args, **kwargs)
            return self._skip_if_large(initialise, tensor, *args, **kwargs)

        return wrapper

    def _skip_if_large(self, original: Original, tensor, *args, **kwargs):
        if not is_large(tensor):
            return original(tensor, *args, **kwargs)
        self.count += 1
        self.bytes += tensor.numel() * tensor.element_size()
        if is_dense(tensor):
            self.holes.empty(tensor)
        return tensor
