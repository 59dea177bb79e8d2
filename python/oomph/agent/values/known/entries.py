"""The known values of one storage, and the versions for which they hold: Note [Versions] in `store`."""

import threading
import weakref
from collections.abc import Callable

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from ...host.holes import is_dense
from .contents import Contents, Layout


# Kinds of assumptions, to be added up: an index that a network would have chosen, the share of a mask, a comparison of an unknown number.
CHOICE, SHARE, COMPARISON = 1, 2, 4


class Entry:
    """The known bytes of one storage."""

    __slots__ = ("owner", "address", "contents", "unknown", "version", "is_final", "is_shared", "assumed")

    def __init__(self, storage: torch.UntypedStorage, contents: Contents, *, is_whole: bool) -> None:
        # Reserves the storage's address in the host, so that no other storage reuses the address, without holding memory of the storage.
        self.owner = StorageWeakRef(storage)
        self.address = storage.data_ptr()
        self.contents = contents
        # A storage of the same size, with a 1 for each unknown byte; `None` if all bytes are known.
        self.unknown = None if is_whole else filled(contents.nbytes, 1)
        self.version = 0
        # False if the value holds for the next version instead: Note [Versions].
        self.is_final = True
        # True if tensors with separate versions share the storage: the value then stays unknown.
        self.is_shared = False
        # The kinds of assumptions that the value was computed from: `CHOICE` and others.
        self.assumed = 0


class Writer(threading.local):
    """The state of one thread."""

    # True while a trusted operator runs.
    is_trusting = False
    # True while results of one operator are set: PyTorch raises their versions afterwards.
    is_writing = False
    # The kinds of assumptions among the values that the operator under way has read.
    assumed = 0

    def __init__(self) -> None:
        # The last written storages, with the tensors that hold their versions. Strong references would keep memory of the device.
        self.written: list[tuple[int, weakref.ref]] = []


def version_of(tensor: torch.Tensor) -> int:
    """PyTorch's version counter of the tensor; 0 in inference mode, which has no counter."""
    return 0 if tensor.is_inference() else tensor._version


def holds(known: Entry, tensor: torch.Tensor) -> bool:
    """True if no write came since; makes the version final."""
    expected = known.version if known.is_final else known.version + 1
    known.version, known.is_final = expected, True
    return version_of(tensor) == expected


def is_whole_storage(tensor: torch.Tensor, storage_bytes: int) -> bool:
    """True if the elements are all bytes of their storage."""
    return tensor.numel() * tensor.element_size() == storage_bytes and is_dense(tensor)


def overlaps(tensor: torch.Tensor) -> bool:
    """True if elements share memory, as in an expanded tensor."""
    return any(stride == 0 and size > 1 for stride, size in zip(tensor.stride(), tensor.size()))


def change_copy(contents: Contents, layout: Layout, apply: Callable[[torch.Tensor], object]) -> torch.UntypedStorage | None:
    """A copy of the contents with one tensor changed."""
    data = contents.read()
    if data is None:
        return None
    data = data.clone()
    return None if apply(layout.view(data)) is None else data


def bytes_of(storage: torch.UntypedStorage, tensor: torch.Tensor) -> torch.Tensor:
    """As `_view`, byte by byte, in one more dimension."""
    size = tensor.element_size()
    shape, strides = [*tensor.size(), size], [*(stride * size for stride in tensor.stride()), 1]
    return torch.empty(0, dtype=torch.uint8, device="cpu").set_(storage, tensor.storage_offset() * size, shape, strides)


def filled(size: int, value: int) -> torch.UntypedStorage:
    return torch.UntypedStorage(size, device="cpu").fill_(value)
