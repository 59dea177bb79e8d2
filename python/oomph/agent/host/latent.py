"""Values that large host tensors would hold, had anything written them.

Note [Latent values]
~~~~~~~~~~~~~~~~~~~~
A skipped sampler and an unread checkpoint leave holes (Note [Holes] in `holes`), which read as zeros. On the way to the device nobody reads the
values. But a program may read them on the host: `int((weights > 0).sum())`, `int(lengths.max())` of a checkpoint. So each such hole has a
*source*: the sampler with its arguments, or the bytes of the file. An operator that decides by values (`_READERS`), `tolist` and `numpy` first let the source
write, and then see what PyTorch would have drawn or read, up to a seed.

A copy of a hole inherits the source. A hole that something else read, such as a library in C, counts as written, and stays zeros. Arithmetic does not ask: a model that computes on the host decides no size by its weights, and would have to
draw all of them. Holes above `_MOST_WRITTEN_BYTES` stay zeros, and their reads are noted as reads of unknown values.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import torch

from .. import hooks
from ..failure import guarded
from ..hooks.kernels import Original, Overrides
from ..phantom import Phantom
from ..process import frames

# 256 million numbers, which are drawn in about two seconds.
_MOST_WRITTEN_BYTES = 1 << 30
_PAGE_BYTES = 4096
_COMPARISONS = ("gt", "ge", "lt", "le", "eq", "ne")
_READERS = (
    *(f"{name}.{kind}" for name in _COMPARISONS for kind in ("Scalar", "Tensor")),
    *("max", "max.dim", "min", "min.dim", "amax", "amin", "aminmax", "argmax", "argmin", "any", "any.dim", "all", "all.dim"),
    *("sum.dim_IntList", "mean.dim", "std.correction", "var.correction", "linalg_vector_norm", "cumsum", "histc"),
    *("nonzero", "count_nonzero.dim_IntList", "masked_select", "index.Tensor", "bincount", "_unique2", "_local_scalar_dense"),
    *("sort.stable", "topk", "median", "kthvalue.values", "abs.out", "round", "floor", "ceil", "trunc", "sign", "isnan", "equal"),
)

# Writes values into a flat tensor of the source's dtype.
Write = Callable[[torch.Tensor], object]


@dataclass(frozen=True)
class _Source:
    """What would have written a range of memory."""

    start: int
    size: int
    # Of the tensor in that memory; a part of a file is bytes.
    shape: tuple[int, ...]
    dtype: torch.dtype
    # Of the values, before any cast.
    written: torch.dtype
    write: Write


class Latent:
    """The sources of the holes of one process."""

    def __init__(self, phantom: Phantom) -> None:
        self._phantom = phantom
        # By the address of the memory that has the holes.
        self._sources: dict[int, list[_Source]] = {}
        # The lines that read holes too large to be written, and how often.
        self.unread: dict[tuple[str, int], int] = {}

    def install(self, overrides: Overrides) -> None:
        """Stands in for the operators that decide by values, and for the ways to Python's numbers and numpy's arrays."""
        for name in _READERS:
            if torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "CPU"):
                overrides.replace(f"aten::{name}", "CPU", self._read, self._is_written)
        for name in ("tolist", "numpy"):
            hooks.around(f"torch:Tensor.{name}", self._write_first)

    def note(self, tensor: torch.Tensor, write: Write, written: torch.dtype | None = None) -> None:
        """Remembers what would have written a dense tensor; `written`: the dtype of the values, if the tensor is a cast of them."""
        source = _Source(tensor.data_ptr(), tensor.nbytes, tuple(tensor.shape), tensor.dtype, written or tensor.dtype, write)
        address = _address(tensor)
        others = [it for it in self._sources.get(address, ()) if it.start + it.size <= source.start or source.start + source.size <= it.start]
        self._sources[address] = [*others, source]

    def note_bytes(self, address: int, size: int, write: Write) -> None:
        """Remembers what would have written bytes of which a tensor will be made."""
        self._sources[address] = [_Source(address, size, (size,), torch.uint8, torch.uint8, write)]

    def inherit(self, copy: torch.Tensor, original: torch.Tensor) -> bool:
        """Remembers for a copy of a hole what would have written the original; False if that is not one tensor, or no hole any more."""
        for source in self._sources.get(_address(original), ()):
            if source.start == original.data_ptr() and source.size == original.nbytes and self._is_hole(source):
                is_bytes = source.dtype == torch.uint8
                self.note(copy, _as_bytes(source.write) if is_bytes else source.write, original.dtype if is_bytes else source.written)
                return True
        return False

    def has(self, tensor: torch.Tensor) -> bool:
        """True if something would have written the memory of a tensor."""
        return tensor.device.type == "cpu" and _address(tensor) in self._sources

    def write(self, tensor: torch.Tensor) -> None:
        """Writes what the memory of a tensor would hold."""
        address = _address(tensor)
        start, end = tensor.data_ptr(), tensor.data_ptr() + tensor.nbytes
        for source in self._sources.pop(address, ()):
            # A view with strides reaches further than its bytes: the whole source is written, or left.
            is_apart = source.start + source.size <= start or (end <= source.start and tensor.is_contiguous())
            # A reader of files reads a byte of the memory before a tensor is made of it.
            is_no_tensor = source.dtype == tensor.dtype == torch.uint8
            if is_apart or is_no_tensor:
                self._sources.setdefault(address, []).append(source)
            elif source.size > _MOST_WRITTEN_BYTES:
                self._note_unread()
            elif self._is_hole(source):
                _write(source, tensor)

    def _is_written(self, args: tuple) -> bool:
        return not self._sources or not any(isinstance(it, torch.Tensor) and self.has(it) for it in args)

    def _read(self, original: Original, *args, **kwargs):
        for argument in args:
            if isinstance(argument, torch.Tensor) and self.has(argument):
                self.write(argument)
        return original(*args, **kwargs)

    def _write_first(self, read: Callable, tensor: torch.Tensor, *args, **kwargs):
        if self._sources and type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.device.type == "cpu" and self.has(tensor):
            self.write(tensor)
        return read(tensor, *args, **kwargs)

    def _is_hole(self, source: _Source) -> bool:
        """True if no page that lies within the source was written; a page at either end may hold something else, too."""
        start, end = -(-source.start // _PAGE_BYTES) * _PAGE_BYTES, (source.start + source.size) // _PAGE_BYTES * _PAGE_BYTES
        return self._phantom.first_touched(start, end - start) is None

    @guarded
    def _note_unread(self) -> None:
        line = frames.users_line(sys._getframe(1))
        self.unread[line] = self.unread.get(line, 0) + 1


def _address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


@torch.no_grad()
def _write(source: _Source, tensor: torch.Tensor) -> None:
    """Lets a source write its part of a tensor's memory."""
    memory = tensor.untyped_storage()
    offset = (source.start - memory.data_ptr()) // source.dtype.itemsize
    part = torch.empty(0, dtype=source.dtype, device="cpu").set_(memory, offset, source.shape)
    if part.dtype == source.written:
        source.write(part)
    else:
        drawn = torch.empty(source.shape, dtype=source.written, device="cpu")
        source.write(drawn)
        part.copy_(drawn)


def _as_bytes(write: Write) -> Write:
    return lambda into: write(into.view(-1).view(torch.uint8))
