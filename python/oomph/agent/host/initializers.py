"""Skips random initialisation: over a phantom GPU no value is ever computed, so no random number is needed.

Only the in-place samplers of initialisers are skipped, on large host tensors, which then hold zeros and cost nothing (Note [Holes]);
`randint`, `randperm` and `random_` run, because their values are indices, and so do `rand` and `bernoulli_`, of which programs make masks
(`torch.rand(rows, columns) < 0.15`), up to `_MOST_DRAWN_BYTES`.
"""

import functools
import threading

import torch

from ..overrides import Original, Overrides
from .holes import Holes, is_dense, is_large

# `erfinv_` is the second half of `trunc_normal_`.
_SAMPLERS = ("normal_", "uniform_", "log_normal_", "cauchy_", "erfinv_")
# Make tensors of uniform numbers with `uniform_`.
_UNIFORM = ("rand", "rand.generator", "rand_like")
# 16 million numbers, which take 0.1 s; larger tensors are weights.
_MOST_DRAWN_BYTES = 64 << 20


class _Thread(threading.local):
    """The state of one thread."""

    # True while an operator of `_UNIFORM` runs.
    is_drawing = False


class Initializers:
    """Skips initialisers, and counts the calls and bytes."""

    def __init__(self, holes: Holes) -> None:
        self.holes = holes
        self.count = 0
        self.bytes = 0
        self._here = _Thread()

    def install(self, overrides: Overrides) -> None:
        """Replaces the samplers for the CPU, and the initialisers that do much besides sampling."""
        for sampler in _SAMPLERS:
            overrides.replace(f"aten::{sampler}", "CPU", self._skip_if_large)
        for name in _UNIFORM:
            overrides.replace(f"aten::{name}", "CPU", self._draw)
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

    def _draw(self, original: Original, *args, **kwargs):
        outer, self._here.is_drawing = self._here.is_drawing, True
        try:
            return original(*args, **kwargs)
        finally:
            self._here.is_drawing = outer

    def _skip_if_large(self, original: Original, tensor, *args, **kwargs):
        if not is_large(tensor) or (self._here.is_drawing and tensor.nbytes <= _MOST_DRAWN_BYTES):
            return original(tensor, *args, **kwargs)
        self.count += 1
        self.bytes += tensor.numel() * tensor.element_size()
        if is_dense(tensor):
            self.holes.empty(tensor)
        return tensor
