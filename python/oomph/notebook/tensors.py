"""The blocks and the references of a tensor and of a node of an autograd graph.

Note [References in C++]
~~~~~~~~~~~~~~~~~~~~~~~~
`gc` does not see the references that PyTorch keeps in C++: from a tensor to its gradient, its base and its graph; from a node of a graph to the
next nodes, to a leaf's variable and to saved tensors. `list_children` reads these references. A saved tensor with hooks is read packed, because an unpack hook is the
user's code.
"""

from collections.abc import Iterator

from . import kinds
from .blocks import Blocks


class Tensors:
    """Reads tensors and nodes of one PyTorch. To be used under `DisableTorchFunctionSubclass`."""

    def __init__(self, torch, blocks: dict[int, Blocks]) -> None:
        self._torch, self._blocks = torch, blocks
        base = torch._C.TensorBase
        self._get = {name: getattr(base, name).__get__ for name in ("grad", "grad_fn", "is_leaf", "retains_grad", "_base", "layout", "shape", "dtype", "requires_grad")}
        self._storage_of = base.untyped_storage
        self._is_lazy_copy = getattr(torch._C, "_is_cow_tensor", lambda _: False)
        # By the id of a type: `tensor`, `storage`, `node` or an empty string.
        self._words: dict[int, str] = {}
        self._saved: dict[int, list[str]] = {}

    def word_of(self, value: object) -> str:
        """`tensor`, `storage`, `node` (of an autograd graph), or an empty string."""
        kind = type(value)
        word = self._words.get(id(kind))
        if word is None:
            word = self._words[id(kind)] = self._find_word(kind)
        return word

    def _find_word(self, kind: type) -> str:
        if issubclass(kind, self._torch._C.TensorBase):
            return "tensor"
        if issubclass(kind, self._torch._C.StorageBase):
            return "storage"
        return "node" if "next_functions" in kinds.list_names(kind) else ""

    def is_seed(self, value: object, word: str) -> bool:
        """True if the object leads to device memory by itself."""
        if word == "tensor":
            return self._read(value, "grad_fn") is not None or bool(self.list_blocks(value, word)) or self._is_sparse(value)
        return word == "node" or bool(self.list_blocks(value, word))

    def list_blocks(self, value: object, word: str) -> list[tuple[int, int]]:
        """The device and the address of the block behind a tensor or a storage: one or none."""
        try:
            storage = self._storage_of(value) if word == "tensor" else value
            if storage.device.type != "cuda":
                return []
            address = self._read_address(value, storage, word)
            device = storage.device.index
            found = self._blocks[device].find(address, storage.nbytes()) if address and device in self._blocks else None
        except (RuntimeError, NotImplementedError, AttributeError):
            # A wrapper without a storage, such as functorch's.
            return []
        return [] if found is None else [(device, found)]

    def _read_address(self, value: object, storage: object, word: str) -> int:
        """The address of a storage; a lazy copy is not made a real one."""
        if word == "tensor" and self._is_lazy_copy(value):
            return self._torch._C._data_address(value)
        return storage.data_ptr()

    def list_children(self, value: object, word: str) -> Iterator[object]:
        """The references in C++, but for the graph of a tensor. See Note [References in C++]."""
        if word == "tensor":
            yield self._read(value, "_base")
            # PyTorch warns of a question for the gradient of a result.
            if self._read(value, "is_leaf") or self._read(value, "retains_grad"):
                yield self._read(value, "grad")
            if self._is_sparse(value):
                yield from self._list_members(value)
        elif word == "node":
            yield from self._list_of_node(value)

    def graph_of(self, value: object) -> object:
        """The last node of a tensor's graph."""
        return self._read(value, "grad_fn")

    def describe(self, value: object) -> str:
        """`float32 [4, 256]`."""
        dtype = str(self._read(value, "dtype")).removeprefix("torch.")
        return f"{dtype} {list(self._read(value, 'shape') or ())}"

    def _read(self, value: object, name: str) -> object:
        try:
            return self._get[name](value)
        except (RuntimeError, NotImplementedError):
            return None

    def _is_sparse(self, value: object) -> bool:
        return self._read(value, "layout") is not self._torch.strided

    def _list_members(self, value: object) -> Iterator[object]:
        base = self._torch._C.TensorBase
        for name in ("_indices", "_values", "crow_indices", "col_indices", "ccol_indices", "row_indices", "values"):
            try:
                yield getattr(base, name)(value)
            except (RuntimeError, NotImplementedError):
                continue

    def _list_of_node(self, node: object) -> Iterator[object]:
        for name in self._list_names(type(node)):
            try:
                read = getattr(node, name)
            except RuntimeError:
                # The backward pass has freed the saved tensors.
                continue
            if name == "next_functions":
                yield from (following for following, _ in read)
            elif name == "variable":
                yield read
            else:
                yield from self._list_saved(read)

    def _list_names(self, kind: type) -> list[str]:
        """The attributes with references, from PyTorch's classes alone."""
        names = self._saved.get(id(kind))
        if names is None:
            own = {it for it in kinds.list_names(kind) if it in ("next_functions", "variable") or it.startswith("_raw_saved_")}
            names = self._saved[id(kind)] = sorted(own)
        return names

    @staticmethod
    def _list_saved(read: object) -> Iterator[object]:
        for saved in read if type(read) in (tuple, list) else (read,):
            try:
                yield None if saved is None else saved.data
            except (RuntimeError, AttributeError):
                continue

