"""Random initialisation that nobody needs: over a phantom GPU no value is ever computed, so none must be drawn.

Only the in-place samplers that initialisers use are skipped, on large host tensors; `randint`, `randperm` and `random_`
are not, because their values are indices.
"""

import functools

import torch

from .overrides import Original, Overrides

# From here on skipping pays: below, a sampler takes well under a millisecond.
_LARGE_BYTES = 1 << 20
# `erfinv_` is the second half of `trunc_normal_`.
_SAMPLERS = ("normal_", "uniform_", "bernoulli_.float", "exponential_", "log_normal_", "cauchy_", "erfinv_")


class Initializers:
    """Skips, and counts what it skipped."""

    def __init__(self) -> None:
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
            return self._skip_if_large(initialise, tensor, *args, **kwargs)

        return wrapper

    def _skip_if_large(self, original: Original, tensor, *args, **kwargs):
        size = tensor.numel() * tensor.element_size()
        if size < _LARGE_BYTES or tensor.device.type != "cpu":
            return original(tensor, *args, **kwargs)
        self.count += 1
        self.bytes += size
        return tensor
