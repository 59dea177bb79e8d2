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
- Memory shared with other libraries and processes is unknown: `sharing`.
- A storage resized to another size is unknown.

A value may be assumed, as a token that a network would have computed (Note [Assumed indices] in `indices`). What operators compute from an
assumed value is assumed as well, and decides as a known value does; the report names the line.

Bytes of a storage may be known in part, as in a buffer that is filled step by step. `unknown` then has a 1 for each unknown byte.
Beyond `MOST_TOTAL_BYTES` those set longest ago are dropped: Note [Values on demand] in `contents`.

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
import weakref
from collections.abc import Callable, Iterable

import torch

from ... import wire
from ...phantom import Phantom
from .calls import Unseen
from .contents import MOST_BYTES, MOST_PARTIAL_BYTES, MOST_TOTAL_BYTES, Budget, Contents, Layout, Operand, adopt, spread
from .entries import Entry, Writer, bytes_of, change_copy, filled, holds, is_whole_storage, overlaps, version_of

# The address of a tensor's storage in the host, as `_cdata` of the storage.
_storage_of: Callable[[torch.Tensor], int] = getattr(torch._C, "_storage_id", lambda tensor: tensor.untyped_storage()._cdata)
# The number of storages from which ended storages are removed.
_SWEPT_FROM = 1024


class KnownValues:
    """Host copies of the values that are known."""

    def __init__(self, phantom: Phantom) -> None:
        self._phantom = phantom
        # By the storage's address in the host; those set last come last.
        self._by_storage: dict[int, Entry] = {}
        self._budget = Budget()
        self._sweep_at = _SWEPT_FROM
        self._here = Writer()

    def has(self, tensor: torch.Tensor) -> bool:
        """False if nothing is known of the tensor's storage; cheap."""
        return bool(self._by_storage) and _storage_of(tensor) in self._by_storage

    def operand(self, tensor: torch.Tensor) -> Operand | None:
        """The known values, to be read now or later; nothing if any is unknown."""
        known = self._find(tensor)
        if known is None or (known.unknown is not None and bytes_of(known.unknown, tensor).any()):
            return None
        return Operand(known.contents, Layout.of(tensor))

    def get(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """The values, as a host tensor of the same shape that must not be kept: it changes with the device's; nothing if any is unknown."""
        operand = self.operand(tensor)
        if operand is None:
            return None
        values = operand.read()
        if values is None:
            self._remove(tensor.untyped_storage()._cdata)
        self._drop_oldest()
        return values

    def set(self, tensor: torch.Tensor, values: torch.Tensor, *, is_new: bool = False) -> None:
        """Records that `tensor` holds `values`, cast to its dtype and broadcast to its shape.

        `is_new` for the result of an operator: nothing was written in place, and the version is final.
        """
        storage = tensor.untyped_storage()
        if not self._may_set(tensor, storage, is_new=is_new):
            return
        layout, size = Layout.of(tensor), storage.nbytes()
        known, is_whole = self._find(tensor), is_whole_storage(tensor, size)
        if is_whole and (known is None or known.unknown is not None or known.contents.is_lent or not known.contents.is_made):
            known = self._add(storage, Contents(self._budget, size, lambda: spread(layout, size, values)), is_whole=True)
        elif known is None:
            if size > MOST_PARTIAL_BYTES:
                return
            known = self._add(storage, Contents(self._budget, size, lambda: torch.UntypedStorage(size, device="cpu")), is_whole=False)
            self._write(known, layout, values)
        elif not self._write(known, layout, values):
            self._remove(storage._cdata)
            return
        if known.unknown is not None:
            bytes_of(known.unknown, tensor).fill_(0)
        self._note_version(known, tensor, is_new=is_new)

    def set_later(self, tensor: torch.Tensor, make: Callable[[], torch.Tensor | None], depth: int, *, is_new: bool = False, is_own: bool = True) -> None:
        """As `set`, with values that `make` computes when they are read. `is_own` if nothing else refers to their memory."""
        storage = tensor.untyped_storage()
        size = storage.nbytes()
        if not self._may_set(tensor, storage, is_new=is_new):
            return
        if not is_whole_storage(tensor, size):
            values = make()
            self.forget(tensor) if values is None else self.set(tensor, values, is_new=is_new)
            return
        layout, place = Layout.of(tensor), adopt if is_own else spread

        def make_bytes() -> torch.UntypedStorage | None:
            values = make()
            return None if values is None else place(layout, size, values)

        known = self._add(storage, Contents(self._budget, size, make_bytes, depth), is_whole=True)
        self._note_version(known, tensor, is_new=is_new)

    def change(self, tensor: torch.Tensor, apply: Callable[[torch.Tensor], object], depth: int) -> None:
        """Changes the known values of `tensor` by `apply`, which returns `None` on failure; later if `depth` is not 0."""
        key = tensor.untyped_storage()._cdata
        known = self._by_storage.get(key)
        if known is None or known.is_shared:
            return
        layout, contents = Layout.of(tensor), known.contents
        if depth == 0:
            known.contents = contents.writable()
            data = known.contents.read()
            if data is None or apply(layout.view(data)) is None:
                self._remove(key)
                return
        else:
            known.contents = Contents(self._budget, contents.nbytes, lambda: change_copy(contents, layout, apply), depth)
        self._note_version(known, tensor)

    def begin(self) -> None:
        """An operator begins: its results are assumed if the values are that it reads from now on."""
        self._here.assumed = 0

    def assume(self, tensor: torch.Tensor, make: Callable[[], torch.Tensor], kind: int) -> None:
        """Records that an operator's result holds values that are assumed, of a kind in `entries`; `make` is called when they are read."""

        def make_unseen() -> torch.Tensor:
            with Unseen():
                return make()

        self._here.assumed = kind
        self.set_later(tensor, make_unseen, 1, is_new=True)

    def assumed(self, tensor: torch.Tensor) -> int:
        """The kinds of assumptions that the known value was computed from; 0 for none."""
        known = self._by_storage.get(tensor.untyped_storage()._cdata)
        return 0 if known is None else known.assumed

    def touch(self, tensor: torch.Tensor) -> None:
        """The device wrote the values that are known."""
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
                if _storage_of(tensor) in self._by_storage:
                    self.forget(tensor)

    def approve(self, tensor: torch.Tensor) -> None:
        """Makes the version of a trusted operator's result final."""
        known = self._by_storage.get(tensor.untyped_storage()._cdata)
        if known is not None:
            known.version, known.is_final = version_of(tensor), True

    @contextlib.contextmanager
    def trusting(self):
        """Marks operators of this thread as trusted, within this context: see Note [Versions]."""
        outer, self._here.is_trusting = self._here.is_trusting, True
        try:
            yield
        finally:
            self._here.is_trusting = outer

    @contextlib.contextmanager
    def writing(self):
        """Marks the tensors of this thread that are set within this context as written by one operator."""
        self._settle()
        self._here.is_writing = True
        try:
            yield
        finally:
            self._here.is_writing = False

    def forget(self, tensor: torch.Tensor) -> None:
        """Nothing is known of the values of `tensor`; what is known of the rest of its storage stays."""
        storage = tensor.untyped_storage()
        known, size = self._find(tensor), storage.nbytes()
        if known is None or is_whole_storage(tensor, size) or overlaps(tensor) or size > MOST_PARTIAL_BYTES:
            self._forget_storage(storage)
            return
        if known.unknown is None:
            known.unknown = filled(size, 0)
        bytes_of(known.unknown, tensor).fill_(1)
        self._note_version(known, tensor)

    def _may_set(self, tensor: torch.Tensor, storage: torch.UntypedStorage, *, is_new: bool) -> bool:
        """True if values of the tensor may be kept; drops what is known of it otherwise."""
        if not 0 < storage.nbytes() <= MOST_BYTES or self._phantom.is_in_kernel() or overlaps(tensor):
            self._forget_storage(storage)
            return False
        known = self._find(tensor)
        if self._is_shared(storage):
            return False
        # Without versions it may be a kernel's own tensor: Note [Versions].
        return known is not None or not tensor.is_inference() or is_new or self._here.is_trusting

    def _write(self, known: Entry, layout: Layout, values: torch.Tensor) -> bool:
        """Writes a part of a storage; returns False if the rest cannot be computed."""
        known.contents = known.contents.writable()
        data = known.contents.read()
        if data is not None:
            layout.view(data).copy_(values)
        return data is not None

    def _find(self, tensor: torch.Tensor) -> Entry | None:
        """The known value of a tensor's storage, if it still holds."""
        if not self._by_storage:
            return None
        self._settle()
        self._forget_written()
        storage = tensor.untyped_storage()
        known = self._by_storage.get(storage._cdata)
        if known is None or known.is_shared:
            return None
        if known.contents.nbytes != storage.nbytes():
            self._remove(storage._cdata)
            return None
        if self._here.is_trusting or holds(known, tensor):
            self._here.assumed |= known.assumed
            return known
        if version_of(tensor) > known.version:
            self._remove(storage._cdata)
        return None

    def _note_version(self, known: Entry, tensor: torch.Tensor, *, is_new: bool = False) -> None:
        known.version = version_of(tensor)
        known.assumed |= self._here.assumed
        known.is_final = is_new or tensor.is_inference() or self._here.is_trusting
        if not known.is_final:
            self._here.written.append((tensor.untyped_storage()._cdata, weakref.ref(tensor)))

    def share(self, storage: torch.UntypedStorage) -> None:
        """Ends the knowledge of a storage for good: tensors of other storages, or other programs, use the same memory."""
        if storage.nbytes() > 0:
            self._add(storage, Contents(self._budget, storage.nbytes(), lambda: None), is_whole=True).is_shared = True

    def share_range(self, start: int, size: int) -> None:
        """As `share`, for all storages with a part of this memory."""
        for known in self._by_storage.values():
            known.is_shared |= known.address < start + size and start < known.address + known.contents.nbytes

    def _forget_storage(self, storage: torch.UntypedStorage) -> None:
        if not self._is_shared(storage):
            self._remove(storage._cdata)

    def _is_shared(self, storage: torch.UntypedStorage) -> bool:
        known = self._by_storage.get(storage._cdata)
        return known is not None and known.is_shared

    def _settle(self) -> None:
        """Determines the versions of written storages. For a freed tensor, such as a slice, the version stays open."""
        while self._here.written and not self._here.is_writing:
            key, reference = self._here.written.pop()
            known, tensor = self._by_storage.get(key), reference()
            if known is not None and tensor is not None and not holds(known, tensor):
                self._remove(key)

    def _forget_written(self) -> None:
        """Drops what was written behind PyTorch's back, unless the phantom saw the bytes."""
        for start, end in self._phantom.take_written():
            touched = [key for key, it in self._by_storage.items() if it.address < end and start < it.address + it.contents.nbytes]
            for key in touched:
                if not self._copy_written(self._by_storage[key], start, end):
                    self._remove(key)

    def _copy_written(self, known: Entry, start: int, end: int) -> bool:
        """Takes over the bytes of a copy or a fill that lies in a storage; returns False if they are not known."""
        offset, size = start - known.address, end - start
        if known.is_shared:
            return True
        if offset < 0 or offset + size > known.contents.nbytes or size > wire.KEPT_BYTES:
            return False
        known.contents = known.contents.writable()
        data = known.contents.read()
        if data is None or not self._phantom.read_copied(start, data.data_ptr() + offset, size):
            return False
        if known.unknown is not None:
            torch.empty(0, dtype=torch.uint8, device="cpu").set_(known.unknown, offset, (size,)).fill_(0)
        return True

    def _add(self, storage: torch.UntypedStorage, contents: Contents, *, is_whole: bool) -> Entry:
        key = storage._cdata
        self._remove(key)
        if len(self._by_storage) >= self._sweep_at:
            self._sweep()
        known = self._by_storage[key] = Entry(storage, contents, is_whole=is_whole)
        self._drop_oldest()
        return known

    def _drop_oldest(self) -> None:
        """Drops the oldest storages, until the rest is within the budget."""
        if self._budget.total_bytes > MOST_TOTAL_BYTES:
            self._sweep()
        while self._budget.total_bytes > MOST_TOTAL_BYTES and self._by_storage:
            self._remove(next(iter(self._by_storage)))

    def _sweep(self) -> None:
        """Drops the storages that are gone."""
        for key in [key for key, known in self._by_storage.items() if known.owner.expired()]:
            self._remove(key)
        self._sweep_at = max(_SWEPT_FROM, 2 * len(self._by_storage))

    def _remove(self, key: int) -> None:
        self._by_storage.pop(key, None)
