"""What is known of the values in device memory, by storage.

Note [Known values]
~~~~~~~~~~~~~~~~~~~
A phantom runs no kernel. The value of a tensor is known if it was copied from the host, or computed by operators from known values
(`operators`); it is unknown otherwise, and nothing stale is ever read:

- What is known belongs to a storage, not to an address, and ends with the storage. PyTorch gives the block to another tensor, which
  has another storage, of which nothing is known.
- Operators that write in place either change the known value as well, or end it (`operators`). What else writes raises the tensor's
  version, and a value of another version is dropped. An operator under way has not raised it yet: Note [Versions].
- What is written behind PyTorch's back (NCCL, kernels of Triton) the phantom tells: `Phantom.take_written`.
- A storage resized to another size is unknown.

Bytes of a storage may be known in part: a buffer that is filled piece by piece. `unknown` then has a 1 for each byte that is not.
Only storages up to `wire.KEPT_BYTES` are kept; beyond `_KEPT_TOTAL_BYTES` those set longest ago are dropped.

Note [Versions]
~~~~~~~~~~~~~~~
Kernels of PyTorch and of extensions make tensors by operators that have stand-ins (`at::zeros`) and then write into them unseen. So nothing is
kept of an operator that a kernel calls (`Phantom.is_in_kernel`).

PyTorch raises the version when an operator that the program called has written, after its kernel has returned; within an operator that is made
of others it raises none (`ADInplaceOrView` in c10/core/DispatchKey.h is left out there). A value that was written in place therefore holds for
the version that is one higher. Operators that are known to be made of others and nothing else (`operators.COMPOSED`: copies) are trusted:
within one, what is written holds as it is.

A view that a kernel makes has a version of its own, which is 0. So within a trusted operator versions say nothing, and its arguments
are looked at before (`check`); elsewhere a lower version than that of the value means that nothing is known through this tensor.
"""

import contextlib
import threading
import weakref
from collections.abc import Iterable

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from .. import wire
from ..holes import is_dense
from ..phantom import Phantom

# Host memory of everything known.
_KEPT_TOTAL_BYTES = 256 << 20
# How many storages may be kept before those that are gone are looked for.
_SWEPT_FROM = 1024


class _Known:
    """The known bytes of one storage."""

    __slots__ = ("owner", "address", "data", "unknown", "version", "is_final", "is_shared")

    def __init__(self, storage: torch.UntypedStorage, *, is_whole: bool) -> None:
        size = storage.nbytes()
        # Holds the storage's address in the host, so that no other storage gets it, and none of its memory.
        self.owner = StorageWeakRef(storage)
        self.address = storage.data_ptr()
        self.data = torch.UntypedStorage(size, device="cpu")
        # As `data`, with a 1 for each byte that is unknown; nothing if all are known.
        self.unknown = None if is_whole else _ones(size)
        self.version = 0
        # Whether it is the version that holds, and not one less: Note [Versions].
        self.is_final = True
        # Whether tensors with versions of their own share it: nothing is known of it any more.
        self.is_shared = False


class NothingWritten:
    """In place of the phantom, for values whose end nobody waits for."""

    def is_in_kernel(self) -> bool:
        """They may come from anywhere."""
        return False

    def take_written(self) -> list[tuple[int, int]]:
        """Nothing."""
        return []


class _Thread(threading.local):
    """What is true of one thread."""

    # Whether an operator that is made of others runs.
    is_trusting = False

    def __init__(self) -> None:
        # What was written last, with the tensors that tell its version. Held strongly, they would take memory of the device.
        self.written: list[tuple[int, weakref.ref]] = []


class KnownValues:
    """Host copies of the values that are known."""

    def __init__(self, phantom: Phantom | NothingWritten) -> None:
        self._phantom = phantom
        # By the storage's address in the host; those set last come last.
        self._by_storage: dict[int, _Known] = {}
        self._total_bytes = 0
        self._sweep_at = _SWEPT_FROM
        self._here = _Thread()

    def get(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """The values, as a host tensor of the same shape that must not be kept: it changes with the device's; nothing if any is unknown."""
        known = self._find(tensor)
        if known is None or (known.unknown is not None and _bytes_of(known.unknown, tensor).any()):
            return None
        return _view(known.data, tensor)

    def set(self, tensor: torch.Tensor, values: torch.Tensor, *, is_new: bool = False) -> None:
        """`tensor` holds `values` from now on, which are cast to its dtype and broadcast to its shape.

        `is_new` for the result of an operator: nothing was written in place, and the version is final.
        """
        storage = tensor.untyped_storage()
        size = storage.nbytes()
        if not 0 < size <= wire.KEPT_BYTES:
            return
        if self._phantom.is_in_kernel():
            self._forget_storage(storage)
            return
        is_whole = _is_whole(tensor, size)
        known = self._find(tensor)
        if self._is_shared(storage):
            return
        if _overlaps(tensor):
            self._forget_storage(storage)
            return
        if known is None and tensor.is_inference() and not is_new and not self._here.is_trusting:
            # Without versions it may be a kernel's own tensor: Note [Versions].
            return
        if known is None or (is_whole and known.unknown is not None):
            known = self._add(storage, is_whole=is_whole)
        _view(known.data, tensor).copy_(values)
        if known.unknown is not None:
            _bytes_of(known.unknown, tensor).fill_(0)
        self._note_version(known, tensor, is_new=is_new)

    def touch(self, tensor: torch.Tensor) -> None:
        """The values that `get` gave were changed as the device's were."""
        known = self._by_storage.get(tensor.untyped_storage()._cdata)
        if known is not None:
            self._note_version(known, tensor)

    def check(self, tensor: torch.Tensor) -> None:
        """Drops what is known of a tensor, if it was written since."""
        self._find(tensor)

    def forget_all(self, tensors: Iterable[torch.Tensor]) -> None:
        """Nothing is known of these tensors, of which few are known of."""
        if self._by_storage:
            for tensor in tensors:
                if tensor.untyped_storage()._cdata in self._by_storage:
                    self.forget(tensor)

    def approve(self, tensor: torch.Tensor) -> None:
        """The result of an operator that ran within `trusting`: the version it has is final."""
        known = self._by_storage.get(tensor.untyped_storage()._cdata)
        if known is not None:
            known.version, known.is_final = _version(tensor), True

    @contextlib.contextmanager
    def trusting(self):
        """Within it, what is written in place in this thread holds as it is: see Note [Versions]."""
        outer, self._here.is_trusting = self._here.is_trusting, True
        try:
            yield
        finally:
            self._here.is_trusting = outer

    def forget(self, tensor: torch.Tensor) -> None:
        """Nothing is known of the values of `tensor`; what is known of the rest of its storage stays."""
        storage = tensor.untyped_storage()
        known = self._find(tensor)
        if known is None or _is_whole(tensor, storage.nbytes()) or _overlaps(tensor):
            self._forget_storage(storage)
            return
        if known.unknown is None:
            known.unknown = torch.UntypedStorage(storage.nbytes(), device="cpu").fill_(0)
        _bytes_of(known.unknown, tensor).fill_(1)
        self._note_version(known, tensor)

    def _find(self, tensor: torch.Tensor) -> _Known | None:
        """What is known of a tensor's storage, if it still holds."""
        if not self._by_storage:
            return None
        self._settle()
        self._forget_written()
        storage = tensor.untyped_storage()
        known = self._by_storage.get(storage._cdata)
        if known is None or known.is_shared:
            return None
        if known.data.nbytes() != storage.nbytes():
            self._remove(storage._cdata)
            return None
        if self._here.is_trusting or _holds(known, tensor):
            return known
        if _version(tensor) > known.version:
            self._remove(storage._cdata)
        return None

    def _note_version(self, known: _Known, tensor: torch.Tensor, *, is_new: bool = False) -> None:
        known.version = _version(tensor)
        known.is_final = is_new or tensor.is_inference() or self._here.is_trusting
        if not known.is_final:
            self._here.written.append((tensor.untyped_storage()._cdata, weakref.ref(tensor)))

    def share(self, tensor: torch.Tensor) -> None:
        """Nothing is known of the tensor's storage from now on: another tensor was set to it."""
        storage = tensor.untyped_storage()
        if 0 < storage.nbytes() <= wire.KEPT_BYTES:
            self._add(storage, is_whole=False).is_shared = True

    def _forget_storage(self, storage: torch.UntypedStorage) -> None:
        if not self._is_shared(storage):
            self._remove(storage._cdata)

    def _is_shared(self, storage: torch.UntypedStorage) -> bool:
        known = self._by_storage.get(storage._cdata)
        return known is not None and known.is_shared

    def _settle(self) -> None:
        """Finds the versions of what was written. A tensor that is gone, such as a slice, leaves it open."""
        while self._here.written:
            key, reference = self._here.written.pop()
            known, tensor = self._by_storage.get(key), reference()
            if known is not None and tensor is not None and not _holds(known, tensor):
                self._remove(key)

    def _forget_written(self) -> None:
        """Drops what was written behind PyTorch's back."""
        for start, end in self._phantom.take_written():
            touched = [key for key, it in self._by_storage.items() if it.address < end and start < it.address + it.data.nbytes()]
            for key in touched:
                self._remove(key)

    def _add(self, storage: torch.UntypedStorage, *, is_whole: bool) -> _Known:
        key = storage._cdata
        self._remove(key)
        if len(self._by_storage) >= self._sweep_at:
            self._sweep()
        known = self._by_storage[key] = _Known(storage, is_whole=is_whole)
        self._total_bytes += known.data.nbytes()
        while self._total_bytes > _KEPT_TOTAL_BYTES:
            self._remove(next(iter(self._by_storage)))
        return known

    def _sweep(self) -> None:
        """Drops the storages that are gone."""
        for key in [key for key, known in self._by_storage.items() if known.owner.expired()]:
            self._remove(key)
        self._sweep_at = max(_SWEPT_FROM, 2 * len(self._by_storage))

    def _remove(self, key: int) -> None:
        known = self._by_storage.pop(key, None)
        if known is not None:
            self._total_bytes -= known.data.nbytes()


def _version(tensor: torch.Tensor) -> int:
    """How often PyTorch saw it written; tensors of inference mode keep no count."""
    return 0 if tensor.is_inference() else tensor._version


def _holds(known: _Known, tensor: torch.Tensor) -> bool:
    """Whether nothing wrote since; makes the version final."""
    expected = known.version if known.is_final else known.version + 1
    known.version, known.is_final = expected, True
    return _version(tensor) == expected


def _is_whole(tensor: torch.Tensor, storage_bytes: int) -> bool:
    """Whether the elements are all bytes of their storage."""
    return tensor.numel() * tensor.element_size() == storage_bytes and is_dense(tensor)


def _overlaps(tensor: torch.Tensor) -> bool:
    """Whether elements share memory, as those of an expanded tensor do."""
    return any(stride == 0 and size > 1 for stride, size in zip(tensor.stride(), tensor.size()))


def _view(storage: torch.UntypedStorage, tensor: torch.Tensor) -> torch.Tensor:
    """The tensor that lies in `storage` as `tensor` lies in its own."""
    whole = torch.empty(0, dtype=tensor.dtype, device="cpu")
    view = whole.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())
    view = view.conj() if tensor.is_conj() else view
    return view._neg_view() if tensor.is_neg() else view


def _bytes_of(storage: torch.UntypedStorage, tensor: torch.Tensor) -> torch.Tensor:
    """As `_view`, byte by byte, in one more dimension."""
    size = tensor.element_size()
    shape, strides = [*tensor.size(), size], [*(stride * size for stride in tensor.stride()), 1]
    return torch.empty(0, dtype=torch.uint8, device="cpu").set_(storage, tensor.storage_offset() * size, shape, strides)


def _ones(size: int) -> torch.UntypedStorage:
    return torch.UntypedStorage(size, device="cpu").fill_(1)
