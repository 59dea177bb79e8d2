"""Skips random initialisation: over a phantom GPU no value is ever computed, so no random number is needed.

Only the in-place samplers of initialisers are skipped, on large host tensors, which then hold zeros and cost nothing (Note [Holes]);
`randint`, `randperm` and `random_` run, because their values are indices, and so do `rand`, `randn` and `bernoulli_`, of which programs make masks
(`torch.rand(rows, columns) < 0.15`), up to `_MOST_DRAWN_BYTES`, and all together up to `_ALL_DRAWN_BYTES`. What is skipped is drawn when a program
decides by it: Note [Latent values] in `latent`.
"""

import threading

import torch

from .. import hooks
from ..hooks.kernels import Original, Overrides
from .holes import Holes, is_dense, is_large
from .latent import Latent

# `erfinv_` is the second half of `trunc_normal_`.
_SAMPLERS = ("normal_", "uniform_", "log_normal_", "cauchy_", "erfinv_")
# Make tensors with a sampler, for the program itself.
_DRAWING = ("rand", "rand.generator", "rand_like", "randn", "randn.generator", "randn_like")
# 64 million numbers, which take half a second; larger tensors are weights, and so are many of them.
_MOST_DRAWN_BYTES, _ALL_DRAWN_BYTES = 256 << 20, 1 << 30


class _Thread(threading.local):
    """The state of one thread."""

    # True while an operator of `_DRAWING` runs.
    is_drawing = False
    # True while a skipped initialiser runs after all.
    is_writing = False


class Initializers:
    """Skips initialisers, and counts the calls and bytes."""

    def __init__(self, holes: Holes, latent: Latent) -> None:
        self.holes = holes
        self.latent = latent
        self._drawn_bytes = 0
        self.count = 0
        self.bytes = 0
        self._here = _Thread()

    def install(self, overrides: Overrides) -> None:
        """Replaces the samplers for the CPU, and the initialisers that do much besides sampling."""
        for sampler in _SAMPLERS:
            overrides.replace(f"aten::{sampler}", "CPU", self._skip_if_large)
        for name in _DRAWING:
            overrides.replace(f"aten::{name}", "CPU", self._draw)
        for name in ("orthogonal_", "_no_grad_trunc_normal_"):
            hooks.around(f"torch.nn.init:{name}", self._skip_if_real)

    def _skip_if_real(self, initialise: Original, tensor, *args, **kwargs):
        # A tensor that only pretends to have memory also reports the device CPU.
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            return initialise(tensor, *args, **kwargs)
        return self._skip_if_large(initialise, tensor, *args, **kwargs)

    def _draw(self, original: Original, *args, **kwargs):
        outer, self._here.is_drawing = self._here.is_drawing, True
        try:
            return original(*args, **kwargs)
        finally:
            self._here.is_drawing = outer

    def _skip_if_large(self, original: Original, tensor, *args, **kwargs):
        if self._here.is_writing or not is_large(tensor) or (self._here.is_drawing and self._has_room(tensor)):
            return original(tensor, *args, **kwargs)
        self.count += 1
        self.bytes += tensor.numel() * tensor.element_size()
        if is_dense(tensor):
            self.holes.empty(tensor)
            self.latent.note(tensor, lambda part: self._write(original, part, *args, **kwargs))
        return tensor

    def _write(self, original: Original, part, *args, **kwargs) -> None:
        self._here.is_writing = True
        try:
            original(part, *args, **kwargs)
        finally:
            self._here.is_writing = False

    def _has_room(self, tensor) -> bool:
        """Counts the bytes of a tensor that the program draws for itself; False for too many."""
        self._drawn_bytes += tensor.nbytes
        return tensor.nbytes <= _MOST_DRAWN_BYTES and self._drawn_bytes <= _ALL_DRAWN_BYTES
