"""GGUF: hollow files from a header, and files with holes that are loaded without reading them. See Note [Missing weights].

The format: magic, version, counts, metadata, a table of the tensors, and their data at the next multiple of the alignment (`docs/gguf.md`
of ggml, version 3). transformers maps the file and copies each tensor out of the mapping (`transformers/integrations/gguf/reader.py`, 5.17).
Architectures without a mapping there are unpacked with `gguf.dequantize` (0.19) and copied by numpy (`modeling_gguf_pytorch_utils.py`). A
hole of the file becomes a hole of the host's memory instead.
"""

import errno
import os
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from ...host.holes import LARGE_BYTES
from ..outside import acts
from ...host.hollow import write_hole

_MAGIC = b"GGUF"
# Version 1 counts in 32 bits.
_VERSIONS = (2, 3)
_ALIGNMENT_BYTES = 32
_STRING, _ARRAY, _UINT32 = 8, 9, 4
# Bytes of a value by the type's number in the metadata.
_WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
# Fetched at first, and at most at once; a header with a vocabulary has 5 to 15 MB.
_FIRST_BYTES, _STEP_BYTES = 64 << 10, 1 << 20
# A longer header is none of a model's.
_MOST_HEADER_BYTES = 1 << 28


@dataclass
class _Header:
    """The beginning of a file, fetched in steps while it is parsed."""

    size: int
    read: Callable[[int, int], bytes]
    data: bytearray = field(default_factory=bytearray)
    at: int = 0

    def take(self, count: int) -> bytes:
        """The next bytes. `ValueError` if the file ends before."""
        end = self.at + count
        if end > min(self.size, _MOST_HEADER_BYTES):
            raise ValueError(f"a GGUF header wants {end} bytes, the file has {self.size}")
        while len(self.data) < end:
            step = min(max(_FIRST_BYTES, len(self.data)), _STEP_BYTES)
            wanted = min(max(step, end - len(self.data)), self.size - len(self.data))
            found = self.read(len(self.data), wanted)
            if not found:
                raise ValueError(f"a GGUF header ends after {len(self.data)} bytes, expected at least {end}")
            self.data += found
        taken = bytes(self.data[self.at : end])
        self.at = end
        return taken

    def number(self, layout: str) -> int:
        """The next number, in a layout of `struct`."""
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))[0]

    def text(self) -> bytes:
        """The next string."""
        return self.take(self.number("Q"))

    def skip(self, kind: int) -> bytes | None:
        """Passes over a value of the metadata; returns the bytes of a plain one."""
        if kind in _WIDTHS:
            return self.take(_WIDTHS[kind])
        if kind == _STRING:
            self.text()
        elif kind == _ARRAY:
            self._skip_array(self.number("I"), self.number("Q"))
        else:
            raise ValueError(f"a GGUF header has a value of type {kind}, expected 0 to 12")
        return None

    def _skip_array(self, kind: int, count: int) -> None:
        if kind in _WIDTHS:
            self.take(_WIDTHS[kind] * count)
            return
        for _ in range(count):
            self.skip(kind)


def write_hollow_gguf(path: str, size: int, read: Callable[[int, int], bytes]) -> tuple[int, int, int]:
    """Writes a hollow GGUF file of `size` bytes, with the header that `read(offset, count)` returns.

    Returns the number of tensors, their bytes, and the fetched bytes. `ValueError` for bytes that are no GGUF header of such a file.
    """
    header = _Header(size, read)
    tensors, last = _parse(header)
    start = header.at
    if tensors and last >= size - start:
        raise ValueError(f"a GGUF file has {size} bytes, its last tensor starts at {start + last}")
    write_hole(path, bytes(header.data[:start]), size)
    return tensors, size - start, len(header.data)


def _parse(header: _Header) -> tuple[int, int]:
    """Passes over the header and its padding; returns the number of tensors, and the last offset."""
    magic = header.take(4)
    if magic != _MAGIC:
        raise ValueError(f"a GGUF file begins with {magic!r}, expected {_MAGIC!r}")
    version, tensors, values = header.number("I"), header.number("Q"), header.number("Q")
    if version not in _VERSIONS:
        raise ValueError(f"a GGUF file has version {version}, expected 2 or 3")
    alignment = _ALIGNMENT_BYTES
    for _ in range(values):
        key, kind = header.text(), header.number("I")
        value = header.skip(kind)
        if key == b"general.alignment" and kind == _UINT32 and value is not None:
            alignment = int.from_bytes(value, "little") or alignment
    last = max((_take_offset(header) for _ in range(tensors)), default=0)
    padding = -header.at % alignment
    header.take(min(padding, header.size - header.at))
    return tensors, last


def _take_offset(header: _Header) -> int:
    """The offset in a row of the table: name, dimensions, type, offset."""
    header.text()
    header.take(8 * header.number("I"))
    header.take(4)
    return header.number("Q")


def _is_hole(array) -> bool:
    """True for a large part of a mapped file that was never written; `array` is a part of `numpy.memmap`."""
    mapping = getattr(array, "_mmap", None)
    if mapping is None or not getattr(array, "filename", None) or array.offset or array.nbytes < LARGE_BYTES:
        return False
    whole = sys.modules["numpy"].frombuffer(mapping, "uint8")
    start = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return _is_unwritten(array.filename, start, start + array.nbytes)


def _is_unwritten(path: str, start: int, end: int) -> bool:
    with open(path, "rb", buffering=0) as file:
        try:
            return os.lseek(file.fileno(), start, os.SEEK_DATA) >= end
        except OSError as error:
            # No data after `start`; another error is that of a file system without holes.
            return error.errno == errno.ENXIO


def _change_reader() -> None:
    acts.replace(sys.modules["transformers.integrations.gguf.reader"].LazyGgufTensor, "__getitem__", _copying)


def _copying(original: Callable) -> Callable:
    def stand_in(self, key):
        if not _is_hole(self.data):
            return original(self, key)
        reader, torch = sys.modules["transformers.integrations.gguf.reader"], sys.modules["torch"]
        zeros = torch.zeros(self.data.nbytes, dtype=torch.uint8, device="cpu")
        dtype = reader._TORCH_DTYPE.get(self.ggml_type)
        return (zeros if dtype is None else zeros.view(dtype)).reshape(self.shape)

    return stand_in


def _change_kernels() -> None:
    acts.replace(sys.modules["transformers.integrations.gguf.kernels"], "dequantize", _unpacking_blocks)


def _unpacking_blocks(original: Callable) -> Callable:
    """On the host, blocks of zeros are zeros: no arithmetic, and no memory."""

    def stand_in(data, ggml_type, dtype):
        sizes = sys.modules["transformers.integrations.gguf.dequant"].GGML_BLOCK.get(ggml_type)
        if sizes is None or data.device.type != "cpu" or data.nbytes < LARGE_BYTES or data.any():
            return original(data, ggml_type, dtype)
        return data.new_zeros(data.numel() // sizes[1] * sizes[0], dtype=dtype)

    return stand_in


def _change_package() -> None:
    acts.replace(sys.modules["gguf"], "dequantize", _unpacking)


def _unpacking(original: Callable) -> Callable:
    def stand_in(data, kind):
        if not _is_hole(data):
            return original(data, kind)
        gguf, numpy = sys.modules["gguf"], sys.modules["numpy"]
        # Without strides, an array of any shape is one number; so are its views.
        return numpy.broadcast_to(numpy.float32(0), _shape_of(gguf, data, kind))

    return stand_in


class _Arrays:
    """numpy, with a `copy` that makes holes of arrays without strides."""

    def __init__(self, numpy) -> None:
        self._numpy = numpy

    def __getattr__(self, name: str):
        return getattr(self._numpy, name)

    def copy(self, array, *args, **kwargs):
        """A copy in memory of PyTorch's, whose pages are not written."""
        if array.nbytes < LARGE_BYTES or any(array.strides):
            return self._numpy.copy(array, *args, **kwargs)
        torch = sys.modules["torch"]
        return torch.zeros(array.shape, dtype=torch.float32, device="cpu").numpy()


def _change_loader() -> None:
    loader = sys.modules["transformers.modeling_gguf_pytorch_utils"]
    loader.np = _Arrays(loader.np)


def _shape_of(gguf, data, kind) -> tuple[int, ...]:
    """The shape of the values of a packed tensor; the mapping of a plain one has the values' shape."""
    if kind in (gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.F16):
        return data.shape
    return gguf.quant_shape_from_byte_shape(data.shape, kind)


HOOKS = {
    "transformers.integrations.gguf.reader": _change_reader,
    "transformers.integrations.gguf.kernels": _change_kernels,
    "transformers.modeling_gguf_pytorch_utils": _change_loader,
    "gguf": _change_package,
}
