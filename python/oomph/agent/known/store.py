"""Known values in device memory, by storage.

Note [Known values]
~~~~~~~~~~~~~~~~~~~
A phantom runs no kernel. The value of a tensor is known if it was copied from the host, or computed by operators from known values
(`operators`); it is unknown otherwise, and nothing stale is ever read:

- A known value belongs to a storage, not to an address, and ends with the storage. When PyTorch reuses the block for another tensor, the
  new storage has no known value.
- Operators that write in place either change the known value as well, or end it (`operators`). Any other write raises the tensor's version,
  and a value of another version is dropped. An operator under way has not raised the version yet: Note [Versions].
- The phantom reports writes behind PyTorch's back (NCCL, kernels of Triton): `Phantom.take_written`.
- A storage resized to another size is unknown.

Bytes of a storage may be known in part, as in a buffer that is filled step by step. `unknown` then has a 1 for each unknown byte.
Only storages up to `wire.KEPT_BYTES` are kept; beyond `_KEPT_TOTAL_BYTES` those set longest ago are dropped.

Note [Versions]
~~~~~~~~~~~~~~~
Kernels of PyTorch and of extensions make tensors by operators that have stand-ins (`at::zeros`) and then write into the tensors unseen. So
the results of operators called by a kernel are not kept (`Phantom.is_in_kernel`).

PyTorch raises the version after the kernel of an operator that the program called. Within an operator composed of other operators the
version stays (`ADInplaceOrView` in c10/core/DispatchKey.h is left out there). A value that was written in place therefore holds for the
version plus one. Operators composed entirely of known operators (`operators.COMPOSED`: copies) are trusted: within a trusted operator,
written values hold for the current version.

A view made by a kernel has its own version, which starts at 0. So within a trusted operator versions say nothing, and its arguments are
checked before (`check`); elsewhere a version lower than the value's means that nothing is known through this tensor.
"""

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterable

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from .. import wire
from ..holes import is_dense
from ..phantom import Phantom

# Host memory of everything known.
_KEPT_TOTAL_BYTES = 256 << 20
# The number of storages from which ended storages are removed.
_SWEPT_FROM = 1024


class _Known:
    """The known bytes of one storage."""

    __slots__ = ("owner", "address", "data", "unknown", "version", "is_final", "is_shared", "pending")

    def __init__(self, storage: torch.UntypedStorage, *, is_whole: bool) -> None:
        size = storage.nbytes()
        # Reserves the storage's address in the host, so that no other storage reuses the address, without holding memory of the storage.
        self.owner = StorageWeakRef(storage)
        self.address = storage.data_ptr()
        self.data = torch.UntypedStorage(size, device="cpu")
        # As `data`, with a 1 for each byte that is unknown; nothing if all are known.
        self.unknown = None if is_whole else _ones(size)
        self.version = 0
        # False if the value holds for the next version instead: Note [Versions].
        self.is_final = True
        # True if tensors with versions of their own share the storage: its value then stays unknown.
        self.is_shared = False
        # Computes `data`, and is called when that is first read.
        self.pending: Callable[[], object] | None = None

    def compute(self) -> None:
        """Computes the data if that is pending."""
        pending, self.pending = self.pending, None
        if pending is not None:
            pending()


class NothingWritten:
    """A phantom that reports no writes: for assumed values, which need no invalidation."""

    def is_in_kernel(self) -> bool:
        """Always False: assumed values may be set anywhere."""
        return False

    def take_written(self) -> list[tuple[int, int]]:
        """Always empty."""
        return []


class _Thread(threading.local):
    """The state of one thread."""

    # True while a trusted operator runs.
    is_trusting = False

    def __init__(self) -> None:
        # The last written storages, with the tensors that hold their versions. Strong references would keep memory of the device.
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
        known.compute()
        return _view(known.data, tensor)

    def set(self, tensor: torch.Tensor, values: torch.Tensor | Callable, *, is_new: bool = False) -> None:
        """Records that `tensor` holds `values`, cast to its dtype and broadcast to its shape; a function returns them if they are read.

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
        known.compute()
        view = _view(known.data, tensor)
        if callable(values) and is_whole:
            known.pending = lambda: view.copy_(values())
        else:
            view.copy_(values() if callable(values) else values)
        if known.unknown is not None:
            _bytes_of(known.unknown, tensor).fill_(0)
        self._note_version(known, tensor, is_new=is_new)

    def touch(self, tensor: torch.Tensor) -> None:
        """The values that `get` gave were changed as the device's were."""
        known = self._by_storage.get(tensor.untyped_storage()._cdata)
        if known is not None:
            self._note_version(known, tensor)

    def check(self, tensor: torch.Tensor) -> None:
        """Drops the known value of a tensor that was written since."""
        self._find(tensor)

    def forget_all(self, tensors: Iterable[torch.Tensor]) -> None:
        """Drops the known values of these tensors; most have none."""
        if self._by_storage:
            for tensor in tensors:
                if tensor.untyped_storage()._cdata in self._by_storage:
                    self.forget(tensor)

    def approve(self, tensor: torch.Tensor) -> None:
        """Makes the version of a trusted operator's result final."""
        known = self._by_storage.get(tensor.untyped_storage()._cdata)
        if known is not None:
            known.version, known.is_final = _version(tensor), True

    @contextlib.contextmanager
    def trusting(self):
        """Marks operators of this thread as trusted, within this context: see Note [Versions]."""
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
        """The known value of a tensor's storage, if it still holds."""
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
        """Ends the knowledge of the tensor's storage for good: another tensor was set to it."""
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
        """Determines the versions of written storages. For a freed tensor, such as a slice, the version stays open."""
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
    """PyTorch's version counter of the tensor; 0 in inference mode, which has no counter."""
    return 0 if tensor.is_inference() else tensor._version


def _holds(known: _Known, tensor: torch.Tensor) -> bool:
    """True if no write came since; makes the version final."""
    expected = known.version if known.is_final else known.version + 1
    known.version, known.is_final = expected, True
    return _version(tensor) == expected


def _is_whole(tensor: torch.Tensor, storage_bytes: int) -> bool:
    """True if the elements are all bytes of their storage."""
    return tensor.numel() * tensor.element_size() == storage_bytes and is_dense(tensor)


def _overlaps(tensor: torch.Tensor) -> bool:
    """True if elements share memory, as in an expanded tensor."""
    return any(stride == 0 and size > 1 for stride, size in zip(tensor.stride(), tensor.size()))


def _view(storage: torch.UntypedStorage, tensor: torch.Tensor) -> torch.Tensor:
    """A view of `storage` with the layout of `tensor`."""
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
