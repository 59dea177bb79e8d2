"""Scans the pickle of a checkpoint for its storages; no code of the pickle is executed."""

import pickle

# Bytes of an element, by the name of the storage class (`torch/storage.py`, 2.11).
ELEMENT_BYTES = {
    "DoubleStorage": 8, "FloatStorage": 4, "HalfStorage": 2, "BFloat16Storage": 2, "LongStorage": 8, "IntStorage": 4, "ShortStorage": 2,
    "CharStorage": 1, "ByteStorage": 1, "BoolStorage": 1, "ComplexDoubleStorage": 16, "ComplexFloatStorage": 8, "QUInt8Storage": 1,
    "QInt8Storage": 1, "QInt32Storage": 4, "QUInt4x2Storage": 1, "QUInt2x4Storage": 1, "UntypedStorage": 1,
}  # fmt: skip


class Anything:
    """A placeholder for every object of a pickle that is only scanned."""

    def __init__(self, *_args, **_kwargs) -> None: ...

    def __setstate__(self, _state) -> None: ...

    def __setitem__(self, _key, _value) -> None: ...

    def append(self, _value) -> None:
        """Drops an element of a list."""

    def extend(self, _values) -> None:
        """Drops elements of a list."""

    def add(self, _value) -> None:
        """Drops an element of a set."""


class Storages(pickle.Unpickler):
    """Scans a pickle for storages, named by their records in an archive."""

    def __init__(self, data) -> None:
        super().__init__(data)
        # By record, the names of the storage classes.
        self.found: dict[str, str] = {}
        # By record, the elements of the storages.
        self.counts: dict[str, int] = {}

    def find_class(self, _module: str, name: str) -> type:
        """A placeholder of the name, for every class and function."""
        return type(name, (Anything,), {})

    def persistent_load(self, pid) -> object:
        """Notes a storage. In the format before PyTorch 1.6 the classes of modules are such objects, too."""
        kind, storage, key, *rest = pid
        if kind == "module":
            return storage
        self.found[f"data/{key}"] = storage.__name__
        self.counts[f"data/{key}"] = rest[1]
        return Anything()
