"""Hollow files from the headers of remote files, by format. See Note [Missing weights]."""

import json
import os
import struct
from collections.abc import Callable

from . import hollow
from .ranges import BadAnswer

# A smaller file is fetched whole: the values cost less than the request.
LEAST_BYTES = 1 << 20
# A longer header is none of safetensors' (`MAX_HEADER_SIZE`, safetensors 0.8).
_MOST_HEADER_BYTES = 100_000_000
# The number of first bytes of a bad file in a message.
_SHOWN_BYTES = 12

# Writes a hollow file at a path, of a size in bytes, with parts of the original that a function reads by offset and size; returns the numbers
# of tensors, of their bytes, and of the bytes of the header.
Writer = Callable[[str, int, Callable[[int, int], bytes]], tuple[int, int, int]]


def write_hollow_safetensors(path: str, size: int, read: Callable[[int, int], bytes]) -> tuple[int, int, int]:
    """The length of the header in 8 bytes, the header in JSON, and holes."""
    name = os.path.basename(path)
    prefix = read(0, 8)
    (length,) = struct.unpack("<Q", prefix)
    if length > _MOST_HEADER_BYTES:
        raise BadAnswer(f"{name} begins with {_show(prefix)}, expected the length of a safetensors header")
    if length > size - 8:
        raise BadAnswer(f"{name} has {size} bytes, expected at least the {8 + length} of its safetensors header")
    text = read(8, length)
    tensors = _read_header(name, text)
    end = max((tensor["data_offsets"][1] for tensor in tensors.values()), default=0)
    if 8 + length + end > size:
        raise BadAnswer(f"the header of {name} places tensors up to byte {8 + length + end}, and the file has {size}")
    hollow.write_hole(path, prefix + text, size)
    return len(tensors), sum(tensor["data_offsets"][1] - tensor["data_offsets"][0] for tensor in tensors.values()), 8 + length


def _read_header(name: str, text: bytes) -> dict[str, dict]:
    """The tensors of a header by name."""
    try:
        header = json.loads(text)
        header.pop("__metadata__", None)
        for tensor in header.values():
            start, end = tensor["data_offsets"]
            if not 0 <= start <= end:
                raise ValueError("offsets")
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise BadAnswer(f"the header of {name} begins with {_show(text)}, expected the tensors of a safetensors file in JSON") from error
    return header


def _show(data: bytes) -> str:
    text = data[:_SHOWN_BYTES].decode("ascii", "replace")
    return f"`{text}`" if text.isprintable() and text.isascii() else f"the bytes {data[:_SHOWN_BYTES].hex(' ')}"


def write_hole_only(path: str, size: int, _read: Callable[[int, int], bytes]) -> tuple[int, int, int]:
    """A file of a format that PyTorch does not load: nothing is fetched."""
    hollow.write_hole(path, b"", size)
    return 0, size, 0


def refuse(path: str, _size: int, _read: Callable[[int, int], bytes]) -> tuple[int, int, int]:
    """The default: no header of the format can be read, and a dry run fetches no weights whole."""
    raise BadAnswer(f"{os.path.basename(path)} is a weight file without a header to fetch, expected one of {', '.join(FORMATS)}")


FORMATS: dict[str, Writer] = {
    ".safetensors": write_hollow_safetensors,
    ".h5": write_hole_only,
    ".msgpack": write_hole_only,
    ".onnx": write_hole_only,
    ".onnx_data": write_hole_only,
    ".tflite": write_hole_only,
    ".ot": write_hole_only,
}
# Weight files beside the formats.
_OTHERS = (".bin", ".pt", ".pth", ".ckpt", ".gguf")


def is_weight_file(name: str, size: int | None) -> bool:
    """True for a file of weights, of a size in bytes if known, that is not worth fetching whole."""
    ending = os.path.splitext(name)[1].lower()
    return (size is None or size >= LEAST_BYTES) and (ending in FORMATS or ending in _OTHERS)


def find_writer(name: str) -> Writer:
    """The writer of hollow files for the name of a file."""
    return FORMATS.get(os.path.splitext(name)[1].lower(), refuse)
