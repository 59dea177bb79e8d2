"""Skips weights in checkpoint files: on the way to a phantom GPU the values are never used.

safetensors and `torch.load(mmap=True)` map a file with `torch.UntypedStorage.from_file` and make tensors of its parts. Here memory of the
file's size replaces the mapping: large floating tensors in it are holes (Note [Holes]), everything else is read: indices, masks, counters,
small parameters. `torch.load` without `mmap` takes the same path. So a checkpoint costs its header and its small tensors, through every
cast, copy and move of the weights.

Holes of the file itself are never read, in tensors of any dtype: a hollow file's packed integers stay holes (Note [Missing weights]). The
ledger of missing weights counts the hollow files, so these are not counted here.

Only private mappings are replaced: writes to a shared mapping belong into the file.
"""

import ctypes
import errno
import os
import pickle
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
import torch.serialization

from ... import hooks
from ..holes import LARGE_BYTES
from ..latent import Latent
from ..pickles import Storages
from ..hollow import is_hollow

# A file with more bytes to read than this is no checkpoint of weights, and is mapped unchanged.
_MOST_READ_BYTES = 256 << 20
_FLOATING_STORAGES = ("DoubleStorage", "FloatStorage", "HalfStorage", "BFloat16Storage")
# Of a local file header: signature to sizes, length of the name, length of the extra field (APPNOTE.TXT, 4.3.7).
_LOCAL_HEADER = struct.Struct("<26xHH")
# A longer header is none of safetensors' (`MAX_HEADER_SIZE`, safetensors 0.8).
_MOST_HEADER_BYTES = 100_000_000


@dataclass(frozen=True)
class Part:
    """Some bytes of a file, and whether they are a large floating tensor."""

    start: int
    size: int
    is_weight: bool


class Checkpoints:
    """Leaves weights unread, and counts them, each file once."""

    def __init__(self, latent: Latent) -> None:
        self._latent = latent
        # By path: how many tensors, how many bytes.
        self._unread: dict[str, tuple[int, int]] = {}

    @property
    def count(self) -> int:
        """The number of unread tensors."""
        return sum(count for count, _ in self._unread.values())

    @property
    def bytes(self) -> int:
        """Size of the skipped weights."""
        return sum(size for _, size in self._unread.values())

    def install(self) -> None:
        """Stands in for the two functions that checkpoints are opened with."""
        hooks.around("torch:UntypedStorage.from_file", self._map)
        hooks.around("torch.serialization:load", _load)

    def _map(self, map_file: Callable, filename, shared=False, nbytes=0):
        stand_in = None if shared else self._stand_in(os.fspath(filename), nbytes)
        return map_file(filename, shared, nbytes) if stand_in is None else stand_in

    def _stand_in(self, path: str, size: int) -> torch.UntypedStorage | None:
        """Memory of the file's size with the necessary parts read; `None` if the file is no checkpoint."""
        parts = _weights_and_rest(path)
        if parts is None:
            return None
        storage = torch.UntypedStorage(size)
        with open(path, "rb", buffering=0) as file:
            for part in parts:
                if not part.is_weight:
                    _read(file, part, storage)
                elif not is_hollow(path):
                    self._note_source(path, part, storage)
        if not is_hollow(path):
            self.note(path, [part.size for part in parts if part.is_weight])
        return storage

    def _note_source(self, path: str, part: Part, storage: torch.UntypedStorage) -> None:
        """Remembers where a program that decides by a weight finds it, as long as nobody writes the file anew."""
        written = _identify(path)

        def write(into: torch.Tensor) -> None:
            if _identify(path) != written:
                return
            with open(path, "rb", buffering=0) as file:
                _read_range(file, part.start, part.start + part.size, into.data_ptr())

        self._latent.note_bytes(storage.data_ptr() + part.start, part.size, write)

    def note(self, path: str, sizes: list[int]) -> None:
        """Counts the unread tensors of a file, in place of an earlier count."""
        if sizes:
            self._unread[os.path.realpath(path)] = (len(sizes), sum(sizes))


def _load(load: Callable, f, *args, mmap=None, **kwargs):
    if not mmap and isinstance(f, (str, os.PathLike)) and _can_stand_in(os.fspath(f)):
        mmap = True
    return load(f, *args, mmap=mmap, **kwargs)


def _identify(path: str) -> tuple[int, int, int] | None:
    """The number, the size and the time of a file; `None` if it is gone."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _can_stand_in(path: str) -> bool:
    """True if `torch.load` may map this file. With shared mappings, chosen by the program, it would write to the file."""
    options = torch.serialization.get_default_mmap_options()
    return options != torch.serialization.MAP_SHARED and _weights_and_rest(path) is not None


def _weights_and_rest(path: str) -> list[Part] | None:
    """The parts of a checkpoint that has large weights; `None` for other and unreadable files."""
    try:
        if os.path.getsize(path) < LARGE_BYTES:
            return None
        parts = list(_parts_of_zip(path) if zipfile.is_zipfile(path) else _parts_of_safetensors(path))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, pickle.UnpicklingError, zipfile.BadZipFile):
        # The program's own reader reports the error.
        return None
    to_read = _count_read(path, parts)
    spared = sum(part.size for part in parts) - to_read
    return parts if to_read <= _MOST_READ_BYTES and spared >= LARGE_BYTES else None


def _count_read(path: str, parts: list[Part]) -> int:
    """Bytes of the parts to read, without the holes of the file."""
    with open(path, "rb", buffering=0) as file:
        read = (_written(file, part.start, part.start + part.size) for part in parts if not part.is_weight)
        return sum(end - start for extents in read for start, end in extents)


def _written(file, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The written ranges of a file from `start` to `end`; the whole range on a file system without holes."""
    while start < end:
        try:
            data = os.lseek(file.fileno(), start, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                yield start, end
            return
        if data >= end:
            return
        start = min(end, os.lseek(file.fileno(), data, os.SEEK_HOLE))
        yield data, start


def _parts_of_safetensors(path: str) -> Iterator[Part]:
    import json

    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        if length > _MOST_HEADER_BYTES:
            raise ValueError(f"{path} is no safetensors file")
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    yield Part(0, 8 + length, is_weight=False)
    for tensor in header.values():
        start, end = tensor["data_offsets"]
        is_floating = tensor["dtype"].startswith(("F", "BF"))
        yield Part(8 + length + start, end - start, is_floating and end - start >= LARGE_BYTES)


def _parts_of_zip(path: str) -> Iterator[Part]:
    """The records of a file of `torch.save`; a `TorchScript` archive, or a compressed file, is a `ValueError`."""
    with zipfile.ZipFile(path) as archive, open(path, "rb") as file:
        infos = archive.infolist()
        records = {info.filename.partition("/")[2]: info for info in infos}
        if "constants.pkl" in records or any(info.compress_type != zipfile.ZIP_STORED for info in infos):
            raise ValueError(f"{path} is no checkpoint")
        with archive.open(records["data.pkl"]) as data:
            floating = _floating_storages(data)
        for name, info in records.items():
            is_weight = name in floating and info.file_size >= LARGE_BYTES
            yield Part(_data_offset(file, info.header_offset), info.file_size, is_weight)


def _data_offset(file, header_offset: int) -> int:
    file.seek(header_offset)
    return header_offset + 30 + sum(_LOCAL_HEADER.unpack(file.read(30)))


def _floating_storages(data) -> set[str]:
    storages = Storages(data)
    storages.load()
    return {record for record, name in storages.found.items() if name in _FLOATING_STORAGES}


def _read(file, part: Part, storage: torch.UntypedStorage) -> None:
    """Reads the written ranges of a part; the memory of the storage holds zeros elsewhere."""
    size = os.fstat(file.fileno()).st_size
    if part.start + part.size > min(size, storage.nbytes()):
        raise ValueError(f"{file.name} ends at {min(size, storage.nbytes())}, expected {part.start + part.size}")
    for start, end in _written(file, part.start, part.start + part.size):
        _read_range(file, start, end, storage.data_ptr() + start)


def _read_range(file, start: int, end: int, address: int) -> None:
    target = memoryview((ctypes.c_char * (end - start)).from_address(address)).cast("B")
    file.seek(start)
    while target:
        count = file.readinto(target)
        if not count:
            raise OSError(f"{file.name} ended early")
        target = target[count:]
