"""Host tensors of zeros take no memory, however they are copied.

Note [Holes]
~~~~~~~~~~~~
Large host tensors lie in memory whose untouched pages are holes (Note [Host memory] in crates/phantom/src/host.rs): holes read as zeros and
cost nothing. The operators here preserve holes, as `cp --sparse` does with files: a copy of a hole is a hole, and only written pages are
copied. Nothing is assumed: the results equal those of the original kernels, to the bit.

Unused values would still cost memory and time. They are never written: samplers leave holes (`initializers`), as do the weights of a
checkpoint (`checkpoints.unread`). Where the program decides by them, they are written first: Note [Latent values] in `latent`.

Arithmetic is not among the operators: the program's computations on the host are performed.
"""

import functools
import math
from collections.abc import Callable

import torch

from ..hooks.kernels import Original, Overrides
from ..phantom import Phantom
from .latent import Latent

# Below, an operator takes well under a millisecond, and the memory is not ours.
LARGE_BYTES = 1 << 20
# A source with more written parts than these is copied whole.
_MOST_PARTS = 64


class Holes:
    """Operators on the host that preserve holes."""

    def __init__(self, phantom: Phantom, latent: Latent | None = None) -> None:
        self.phantom = phantom
        self._latent = latent

    def install(self, overrides: Overrides) -> None:
        """Replaces the operators' kernels for the CPU."""
        overrides.replace("aten::copy_", "CPU", self._copy)
        overrides.replace("aten::zero_", "CPU", self._zero)
        overrides.replace("aten::fill_.Scalar", "CPU", self._fill)
        overrides.replace("aten::cat", "CPU", functools.partial(self._join, _shape_of_cat))
        overrides.replace("aten::stack", "CPU", functools.partial(self._join, _shape_of_stack))

    def empty(self, tensor: torch.Tensor) -> None:
        """Makes a large dense tensor a hole."""
        self.phantom.clear_host(tensor.data_ptr(), _bytes(tensor))

    def is_hole(self, tensor: torch.Tensor) -> bool:
        """True if nothing was ever written to the memory of a tensor."""
        return self.phantom.first_touched(tensor.data_ptr(), _span_bytes(tensor)) is None

    def is_written(self, tensor: torch.Tensor) -> bool:
        """True if no page of the tensor's memory is a hole."""
        start, size = tensor.data_ptr(), _span_bytes(tensor)
        part = self.phantom.first_touched(start, size)
        return part is not None and part[0] <= start and start + size <= part[1]

    def _zero(self, original: Original, tensor):
        if not is_large(tensor) or not is_dense(tensor):
            return original(tensor)
        self.empty(tensor)
        return tensor

    def _fill(self, original: Original, tensor, value):
        if not is_large(tensor) or not is_dense(tensor) or not _is_zero(value):
            return original(tensor, value)
        self.empty(tensor)
        return tensor

    def _copy(self, original: Original, into, source, non_blocking=False):
        if not is_large(into) or not is_large(source) or not is_dense(into) or not _are_alike_and_apart(into, source):
            return original(into, source, non_blocking)
        if self._inherits(into, source) or self.is_hole(source):
            self.empty(into)
        elif into.is_contiguous() and source.is_contiguous():
            self._copy_parts(original, into.view(-1), source.view(-1))
        else:
            original(into, source, non_blocking)
        return into

    def _inherits(self, into, source) -> bool:
        """True if the values of `source` are still unwritten, and `into` may stay so, too. Numbers that become whole ones are lengths or
        indices: they are written first.
        """
        if self._latent is None or not self._latent.has(source):
            return False
        if into.dtype.is_floating_point:
            return self._latent.inherit(into, source)
        self._latent.write(source)
        return False

    def _copy_parts(self, original: Original, into, source) -> None:
        """Copies what was written, and leaves holes between."""
        done, total = 0, source.numel()
        for _ in range(_MOST_PARTS):
            start, end = self._first_written(source, done)
            if start > done:
                self.empty(into[done:start])
            if start == total:
                return
            original(into[start:end], source[start:end])
            done = end
        original(into[done:], source[done:])

    def _first_written(self, source, done: int) -> tuple[int, int]:
        """The elements of the first written part at or after `done`; the end twice if no such part exists."""
        size, base, total = source.element_size(), source.data_ptr(), source.numel()
        part = self.phantom.first_touched(base + done * size, (total - done) * size)
        if part is None:
            return total, total
        return (part[0] - base) // size, min(total, -(-(part[1] - base) // size))

    def _join(self, shape_of: Callable, original: Original, tensors, dim=0):
        if not _are_alike(tensors) or not all(self.is_hole(tensor) for tensor in tensors):
            return original(tensors, dim)
        result = torch.empty(shape_of(tensors, dim), dtype=tensors[0].dtype)
        self.empty(result)
        return result


def is_large(tensor: torch.Tensor) -> bool:
    """True for a host tensor that is large enough to matter."""
    return tensor.numel() * tensor.element_size() >= LARGE_BYTES and tensor.device.type == "cpu"


def is_dense(tensor: torch.Tensor) -> bool:
    """True if the elements fill a range of memory, each once."""
    if tensor.is_contiguous():
        return True
    expected = 1
    for stride, size in sorted((stride, size) for stride, size in zip(tensor.stride(), tensor.shape) if size != 1):
        if stride != expected:
            return False
        expected *= size
    return True


def _are_alike_and_apart(into, source) -> bool:
    """True if two tensors have equal shapes and share no memory. PyTorch itself handles, or refuses, the other pairs."""
    ends = (into.data_ptr() + _span_bytes(into), source.data_ptr() + _span_bytes(source))
    return into.shape == source.shape and (ends[0] <= source.data_ptr() or ends[1] <= into.data_ptr())


def _is_zero(number) -> bool:
    """True if all bytes of a number are zero; `-0.0` has a sign bit."""
    return number == 0 and not (isinstance(number, float) and math.copysign(1, number) < 0)


def _bytes(tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _span_bytes(tensor) -> int:
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return (last + 1) * tensor.element_size()


def _are_alike(tensors: list) -> bool:
    """True if the tensors are large, contiguous, and of one shape and dtype: the joined tensor is then contiguous, too."""
    first = tensors[0] if tensors else None
    return first is not None and all(
        is_large(tensor) and tensor.is_contiguous() and (tensor.shape, tensor.dtype) == (first.shape, first.dtype)
        for tensor in tensors
    )


def _shape_of_cat(tensors: list, dim: int) -> list[int]:
    shape = list(tensors[0].shape)
    shape[dim] *= len(tensors)
    return shape


def _shape_of_stack(tensors: list, dim: int) -> list[int]:
    shape = list(tensors[0].shape)
    shape.insert(dim if dim >= 0 else dim + len(shape) + 1, len(tensors))
    return shape
