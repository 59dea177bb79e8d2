"""Hollow safetensors files from the headers of remote files. See Note [Missing weights]."""

import json
import os
import struct
from collections.abc import Callable

from ...host import hollow
from .ranges import BadAnswer

# A longer header is none of safetensors' (`MAX_HEADER_SIZE`, safetensors 0.8).
_MOST_HEADER_BYTES = 100_000_000
# In the names of tensors that describe packed weights: JSON of bitsandbytes (`QuantState.as_dict`, 0.50), shapes of compressed-tensors (0.20).
_DESCRIPTIONS = (".quant_state.bitsandbytes__", ".weight_shape")
_MOST_DESCRIPTION_BYTES = 4096
# The number of first bytes of a bad file in a message.
_SHOWN_BYTES = 12


def write_hollow_safetensors(path: str, size: int, read: Callable[[int, int], bytes]) -> tuple[int, int, int]:
    """The length of the header in 8 bytes, the header in JSON, and holes."""
    name = os.path.basename(path).removesuffix(".part")
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
    _write_descriptions(path, 8 + length, tensors, read)
    return len(tensors), sum(tensor["data_offsets"][1] - tensor["data_offsets"][0] for tensor in tensors.values()), 8 + length


def _write_descriptions(path: str, start: int, tensors: dict[str, dict], read: Callable[[int, int], bytes]) -> None:
    """Fetches the tensors that describe packed weights: without their values no library can load the weights."""
    with open(path, "r+b") as file:
        for name, tensor in tensors.items():
            first, end = tensor["data_offsets"]
            if 0 < end - first <= _MOST_DESCRIPTION_BYTES and any(mark in name for mark in _DESCRIPTIONS):
                file.seek(start + first)
                file.write(read(start + first, end - first))


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
