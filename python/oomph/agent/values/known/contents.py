"""The values of a storage on the host: bytes, or the operators that make the bytes.

Note [Values on demand]
~~~~~~~~~~~~~~~~~~~~~~~
A step on known tensors of millions of integers makes many more, and reads few: a mask, its negation, the labels under the mask. So large
values are not computed together with the operator. The store keeps the operator and its operands, and computes the values when
the program reads them, or when a shape depends on them (`Contents.read`). Small values are computed at once: remembering costs more.

Operands keep their values of the time of the call: the storage of an operand is lent, and a later operator in place changes a copy
(`Contents.writable`). An unread chain of operators would grow with every step, and therefore ends at `MOST_DEPTH`.

All values together take at most `MOST_TOTAL_BYTES` of host memory, 1 GiB: the edges of a graph with 60 million edges, or the token ids and
labels of 16 batches of 4 million tokens. The program itself held the copied values on the host, so the machine has about this much memory
to spare. One tensor takes at most half.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch

from ... import wire

# Host memory of all known values: Note [Values on demand].
MOST_TOTAL_BYTES = 1 << 30
# Of one storage.
MOST_BYTES = MOST_TOTAL_BYTES // 2
# Of floating-point numbers copied from the host: two million points in space. Larger tensors are weights and pictures.
MOST_FLOAT_BYTES = 32 << 20
# Of a storage that is known in part: a second byte marks each unknown byte.
MOST_PARTIAL_BYTES = 64 << 20
# Operators between an unread value and values in memory.
MOST_DEPTH = 24


class Budget:
    """Host memory of all values."""

    __slots__ = ("total_bytes",)

    def __init__(self) -> None:
        self.total_bytes = 0


class Contents:
    """The bytes of one storage."""

    __slots__ = ("nbytes", "depth", "is_lent", "_budget", "_data", "_make")

    def __init__(self, budget: Budget, nbytes: int, make: Callable[[], torch.UntypedStorage | None], depth: int = 0) -> None:
        self.nbytes = nbytes
        # The number of operators in the longest chain that `read` runs.
        self.depth = depth
        # True if an operand refers to the bytes; the bytes then stay unchanged.
        self.is_lent = False
        self._budget = budget
        self._data: torch.UntypedStorage | None = None
        self._make: Callable[[], torch.UntypedStorage | None] | None = make
        if depth == 0 or depth > MOST_DEPTH:
            self.read()

    def __del__(self) -> None:
        if self._data is not None:
            self._budget.total_bytes -= self.nbytes

    @property
    def is_made(self) -> bool:
        """True if reading costs nothing."""
        return self._make is None

    def read(self) -> torch.UntypedStorage | None:
        """The bytes; `None` if the host cannot compute the values."""
        make, self._make = self._make, None
        if make is not None:
            self._data, self.depth = make(), 0
            if self._data is not None:
                self._budget.total_bytes += self.nbytes
        return self._data

    def writable(self) -> "Contents":
        """These contents, or a copy if an operand refers to the bytes."""
        if not self.is_lent:
            return self
        return Contents(self._budget, self.nbytes, self._copy)

    def _copy(self) -> torch.UntypedStorage | None:
        data = self.read()
        return None if data is None else data.clone()


class Layout(NamedTuple):
    """The place of a tensor's elements in its storage."""

    dtype: torch.dtype
    offset: int
    size: torch.Size
    stride: tuple[int, ...]
    is_conj: bool
    is_neg: bool

    @classmethod
    def of(cls, tensor: torch.Tensor) -> "Layout":
        """The layout of a tensor."""
        return cls(tensor.dtype, tensor.storage_offset(), tensor.size(), tensor.stride(), tensor.is_conj(), tensor.is_neg())

    def view(self, storage: torch.UntypedStorage) -> torch.Tensor:
        """A tensor of this layout in a storage of the host."""
        whole = torch.empty(0, dtype=self.dtype, device="cpu")
        view = whole.set_(storage, self.offset, self.size, self.stride)
        view = view.conj() if self.is_conj else view
        return view._neg_view() if self.is_neg else view


class Operand(NamedTuple):
    """Known values as an operator reads them."""

    contents: Contents
    layout: Layout

    @property
    def depth(self) -> int:
        """See `Contents.depth`."""
        return self.contents.depth

    @property
    def is_small(self) -> bool:
        """True for few values in memory."""
        return self.contents.is_made and self.layout.size.numel() * self.layout.dtype.itemsize <= wire.KEPT_BYTES

    def lend(self) -> None:
        """Keeps the present values for a later read."""
        self.contents.is_lent = True

    def read(self) -> torch.Tensor | None:
        """The values; `None` if the host cannot compute the values."""
        data = self.contents.read()
        return None if data is None else self.layout.view(data)


class Blank(NamedTuple):
    """A tensor without values: an operator writes the whole tensor, or needs only shape and dtype."""

    size: tuple[int, ...]
    dtype: torch.dtype

    depth = 0

    @property
    def is_small(self) -> bool:
        """True for a tensor that costs little to write."""
        return torch.Size(self.size).numel() * self.dtype.itemsize <= wire.KEPT_BYTES

    def lend(self) -> None:
        """Does nothing: no value is read later."""

    def read(self) -> torch.Tensor:
        """A tensor without values."""
        return torch.empty(self.size, dtype=self.dtype, device="cpu")


class Constant:
    """A tensor of the host among an operator's arguments."""

    __slots__ = ("_values",)

    depth = 0

    def __init__(self, values: torch.Tensor) -> None:
        self._values = values

    @property
    def is_small(self) -> bool:
        """True for few values."""
        return self._values.nbytes <= wire.KEPT_BYTES

    def lend(self) -> None:
        """Copies the present values: the program may write into the tensor."""
        self._values = self._values.clone()

    def read(self) -> torch.Tensor:
        """The values."""
        return self._values


def adopt(layout: Layout, nbytes: int, values: torch.Tensor) -> torch.UntypedStorage:
    """As `spread`, but takes the memory of `values`, a new tensor, if the layouts agree."""
    own = values.untyped_storage()
    is_same = (values.dtype, values.size(), values.stride()) == (layout.dtype, layout.size, layout.stride)
    if is_same and own.nbytes() == nbytes and not (values.storage_offset() or values.is_conj() or values.is_neg()):
        return own
    return spread(layout, nbytes, values)


def spread(layout: Layout, nbytes: int, values: torch.Tensor) -> torch.UntypedStorage:
    """A storage of `nbytes`, filled by a tensor of the layout with these values, cast and broadcast."""
    storage = torch.UntypedStorage(nbytes, device="cpu")
    layout.view(storage).copy_(values)
    return storage
