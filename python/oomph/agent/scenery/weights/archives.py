"""Writes a hollow checkpoint of `torch.save` or safetensors from the few parts of a remote file that hold the header.

A zip file (PyTorch 1.6 and later) ends with a directory of its records. The directory, the pickle and the small records of integers are
fetched; of the other storages the local headers are made here, and the values are holes. A file of the earlier format begins with the
pickle, and each storage follows its count of elements. See Note [Missing weights].
"""

import io
import pickle
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...host.holes import LARGE_BYTES
from ...host.pickles import ELEMENT_BYTES, Storages
from .headers import write_hollow_safetensors
from ...host.hollow import write_hole
from .ranges import BadAnswer

# Reads bytes of the remote file: the start, and the size.
Read = Callable[[int, int], bytes]

ZIP, LEGACY, SAFETENSORS, TAR = "zip", "legacy", "safetensors", "tar"
# The begin of a file before PyTorch 1.6: a pickle of `MAGIC_NUMBER` (`torch/serialization.py`, 2.11).
_MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
# The begin of PyTorch's padding, in the extra field of a record (`caffe2/serialize/inline_container.cc`, 2.11).
_PADDING = b"FB"
_ALIGNMENT = 64
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
# A longer header is none of safetensors' (`MAX_HEADER_SIZE`, safetensors 0.8).
_MOST_HEADER_BYTES = 100_000_000
# Smaller integers, such as counters of batches, are no indices. The rest is fetched up to so many bytes, in so many requests.
_LEAST_INDEX_BYTES = 64
_MOST_INDEX_BYTES = 4 << 20
_MOST_INDICES = 64
_PAGE_BYTES = 1 << 14


class ArchiveError(ValueError):
    """A file that is no checkpoint of a known format; the sentence goes on after the name of the file."""


@dataclass(frozen=True)
class Contents:
    """The tensors of a written checkpoint."""

    tensors: int
    bytes: int


def format_of(head: bytes) -> str | None:
    """The format of a checkpoint by its first bytes; `None` for other files. 4 KiB of a larger file are enough."""
    if head.startswith(_MAGIC):
        return LEGACY
    if head[257:262] == b"ustar":
        return TAR
    if head.startswith(b"PK\x03\x04"):
        return ZIP if _is_of_torch(head) else None
    return SAFETENSORS if head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= _MOST_HEADER_BYTES else None


def _is_of_torch(head: bytes) -> bool:
    """True if the first record of a zip file is one of PyTorch's."""
    name_bytes = int.from_bytes(head[26:28], "little")
    name, extra = head[30 : 30 + name_bytes], head[30 + name_bytes :]
    return name.endswith(b"/data.pkl") or (int.from_bytes(head[28:30], "little") > 0 and extra.startswith(_PADDING))


def write_hollow_archive(path: str, size: int, read: Read) -> Contents:
    """Writes the hollow file of a remote checkpoint of `size` bytes; `ArchiveError` if the remote file is none."""
    head = read(0, min(size, _PAGE_BYTES))
    writers = {ZIP: _write_zip, LEGACY: _write_legacy, SAFETENSORS: _write_safetensors}
    kind = format_of(head)
    if kind == TAR:
        raise ArchiveError("is a tar file, the format of PyTorch before 0.1.10, expected a later format: its header cannot be fetched alone")
    if kind is None:
        raise ArchiveError(f"begins with {head[:24]!r}, expected a checkpoint of `torch.save` or safetensors")
    try:
        return writers[kind](path, size, read)
    except ArchiveError:
        raise
    except (zipfile.BadZipFile, pickle.UnpicklingError, struct.error, EOFError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ArchiveError(f"begins as a {kind} checkpoint of {size} bytes, expected a whole one: {type(error).__name__}: {error}") from error


class _Remote(io.RawIOBase):
    """A remote file, as a file to read."""

    def __init__(self, size: int, read: Read) -> None:
        super().__init__()
        self.size, self.position, self._read = size, 0, read
        # The last failed request: `zipfile` takes an `OSError` for the end of the file.
        self.failure: OSError | None = None

    def read(self, count: int | None = -1) -> bytes:
        """The next bytes."""
        left = max(0, self.size - self.position)
        count = left if count is None or count < 0 else min(count, left)
        try:
            data = self._read(self.position, count) if count else b""
        except OSError as error:
            self.failure = error
            raise
        self.position += count
        return data

    def readline(self, limit: int | None = -1) -> bytes:
        """The next line. Lines of pickles are names, and short."""
        line = self._read(self.position, min(_PAGE_BYTES, self.size - self.position)).partition(b"\n")
        text = line[0] + line[1]
        self.position += len(text)
        return text

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Moves to an offset."""
        self.position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.size}[whence]
        return self.position

    def tell(self) -> int:
        """The offset of the next byte."""
        return self.position

    def seekable(self) -> bool:
        """True: every range can be read."""
        return True

    def readable(self) -> bool:
        """True: no bytes are written."""
        return True


def _write_zip(path: str, size: int, read: Read) -> Contents:
    infos, end, pickled = _read_directory(_Remote(size, read))
    storages = Storages(io.BytesIO(pickled))
    storages.load()
    ends = [info.header_offset for info in infos[1:]] + [end]
    records = [_Record(info, end, storages.found.get(info.filename.partition("/")[2])) for info, end in zip(infos, ends)]
    _write_records(path, size, read, records, end)
    held = [record for record in records if record.storage]
    return Contents(len(held), sum(record.info.file_size for record in held))


def _read_directory(remote: _Remote) -> tuple[list[zipfile.ZipInfo], int, bytes]:
    """The records by offset, the offset of the directory, and the pickle of a zip file."""
    try:
        with zipfile.ZipFile(remote) as archive:
            infos = sorted(archive.infolist(), key=lambda info: info.header_offset)
            (pickled,) = (info for info in infos if info.filename.partition("/")[2] == "data.pkl")
            return infos, archive.start_dir, archive.read(pickled)
    except zipfile.BadZipFile:
        if remote.failure is not None:
            raise remote.failure from None
        raise


@dataclass(frozen=True)
class _Record:
    """A record of a zip file, from its local header to the next record; `storage` is the class of a storage."""

    info: zipfile.ZipInfo
    end: int
    storage: str | None

    @property
    def start(self) -> int:
        """The offset of the local header."""
        return self.info.header_offset

    @property
    def is_index(self) -> bool:
        """True for integers that may be indices, few enough to fetch."""
        kind = (self.storage or "").removesuffix("Storage")
        return kind in ("Long", "Int", "Short", "Char", "Byte", "Bool") and _LEAST_INDEX_BYTES <= self.info.file_size < LARGE_BYTES

    @property
    def is_small(self) -> bool:
        """True for a record that is no storage, and small."""
        name = self.info.filename.partition("/")[2]
        return name == "data.pkl" or (self.storage is None and self.info.file_size < LARGE_BYTES)


def _write_records(path: str, size: int, read: Read, records: list[_Record], end: int) -> None:
    """Writes the local headers, the fetched records and the directory, each at its offset in the remote file."""
    fetched = set(_list_fetched(records))
    with open(path, "wb") as file:
        file.truncate(size)
        for start, stop in [*_join([record for record in records if record.start in fetched]), (end, size)]:
            file.seek(start)
            file.write(read(start, stop - start))
        for record in records:
            if record.start not in fetched:
                file.seek(record.start)
                file.write(_make_local_header(record))


def _list_fetched(records: list[_Record]) -> Iterator[int]:
    """The offsets of the records to fetch."""
    yield from (record.start for record in records if record.is_small)
    indices = [record for record in records if record.is_index]
    if len(indices) <= _MOST_INDICES and sum(record.info.file_size for record in indices) <= _MOST_INDEX_BYTES:
        yield from (record.start for record in indices)


def _join(records: list[_Record]) -> Iterator[tuple[int, int]]:
    """The ranges of records, with neighbours joined: one request fetches a range."""
    start = end = 0
    for record in records:
        if record.start != end and end > start:
            yield start, end
        if record.start != end:
            start = record.start
        end = record.end
    if end > start:
        yield start, end


def _make_local_header(record: _Record) -> bytes:
    """The local header of a stored record whose values are a hole."""
    info = record.info
    if info.compress_type != zipfile.ZIP_STORED:
        raise ArchiveError(f"has the compressed record `{info.filename}`, expected records as `torch.save` writes them")
    name = info.orig_filename.encode("utf-8" if info.flag_bits & 0x800 else "cp437")
    data = record.start + _LOCAL_HEADER.size + len(name)
    padding = -data % _ALIGNMENT
    padding += _ALIGNMENT if 0 < padding < 4 else 0
    if data + info.file_size > record.end:
        raise ArchiveError(f"has {record.end - data} bytes for the record `{info.filename}`, expected {info.file_size}")
    if data + padding + info.file_size > record.end:
        padding = 0
    sizes = (min(info.compress_size, 0xFFFFFFFF), min(info.file_size, 0xFFFFFFFF))
    header = _LOCAL_HEADER.pack(b"PK\x03\x04", info.extract_version, info.flag_bits, info.compress_type, 0, 0, info.CRC, *sizes, len(name), padding)
    extra = _PADDING + struct.pack("<H", padding - 4) + b"Z" * (padding - 4) if padding else b""
    return header + name + extra


def _write_legacy(path: str, size: int, read: Read) -> Contents:
    remote = _Remote(size, read)
    # The magic number, the version of the protocol, and the sizes of the saving machine's integers.
    for _ in range(3):
        pickle_of(remote)
    storages = Storages(remote)
    storages.load()
    keys = pickle_of(remote)
    begin = remote.tell()
    counts = [(storages.counts[f"data/{key}"], ELEMENT_BYTES[storages.found[f"data/{key}"]]) for key in keys]
    described = begin + sum(8 + count * width for count, width in counts)
    if described != size:
        raise ArchiveError(f"has {size} bytes, expected the {described} of its header")
    write_hole(path, read(0, begin), size)
    with open(path, "r+b") as file:
        file.seek(begin)
        for count, width in counts:
            file.write(struct.pack("<q", count))
            file.seek(count * width, io.SEEK_CUR)
    return Contents(len(counts), sum(count * width for count, width in counts))


def pickle_of(remote: _Remote):
    """The next pickle, whose classes are placeholders."""
    return Storages(remote).load()


def _write_safetensors(path: str, size: int, read: Read) -> Contents:
    try:
        tensors, total, _ = write_hollow_safetensors(path, size, read)
    except BadAnswer as error:
        # The sentence of the cause does not name the address.
        raise ArchiveError(f"is no whole safetensors file: {error}") from None
    return Contents(tensors, total)
