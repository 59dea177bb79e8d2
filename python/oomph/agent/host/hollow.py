"""Makes hollow files: checkpoints with a real header, whose tensors are holes. See Note [Missing weights]."""

import atexit
import functools
import json
import os
import shutil
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from .. import wire

# Bytes of an element, by the dtype's name in a safetensors header (`Dtype`, safetensors 0.8).
ELEMENT_BYTES = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "F8_E8M0": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2,
    "I32": 4, "U32": 4, "F32": 4, "I64": 8, "U64": 8, "F64": 8, "C64": 8,
}  # fmt: skip
# The name of a dtype of torch in such a header, by the name in torch.
NAMES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "float8_e5m2": "F8_E5M2", "float8_e4m3fn": "F8_E4M3", "float8_e8m0fnu": "F8_E8M0",
    "int16": "I16", "uint16": "U16", "float16": "F16", "bfloat16": "BF16", "int32": "I32", "uint32": "U32", "float32": "F32",
    "int64": "I64", "uint64": "U64", "float64": "F64", "complex64": "C64",
}  # fmt: skip
_FOLDER = "hollow"
# The download cache of Note [Mirror], below the user's folder of caches.
_MIRRORS = os.path.join(os.sep, "oomph", "hub", "")


@dataclass(frozen=True)
class Shape:
    """A tensor of a checkpoint: the dtype's name in safetensors, and its sizes."""

    dtype: str
    sizes: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """Bytes of the tensor."""
        count = 1
        for size in self.sizes:
            count *= size
        return count * ELEMENT_BYTES[self.dtype]


def shape_of(tensor) -> Shape:
    """The shape of a tensor of torch, on any device. `KeyError` for a dtype that safetensors does not have."""
    return Shape(NAMES[str(tensor.dtype).removeprefix("torch.")], tuple(tensor.shape))


@functools.cache
def make_folder(process: int) -> str:
    """The folder for hollow files of a process, in the run's folder; removed when the process ends."""
    run = os.environ.get(wire.RUN) or os.environ[wire.RUN_DIR]
    folder = os.path.join(run, f"{_FOLDER}-{process}")
    os.makedirs(folder, exist_ok=True)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def is_hollow(path: str) -> bool:
    """True for a file of a folder of `make_folder`, or of a mirror (Note [Mirror])."""
    return f"{os.sep}{_FOLDER}-" in path or _MIRRORS in os.path.realpath(path)


def write_safetensors(path: str, shapes: Mapping[str, Shape], metadata: Mapping[str, str] | None = None) -> int:
    """Writes a hollow safetensors file; returns the bytes of its tensors."""
    header: dict[str, object] = {"__metadata__": dict(metadata or {"format": "pt"})}
    end = 0
    for name, shape in shapes.items():
        header[name] = {"dtype": shape.dtype, "shape": list(shape.sizes), "data_offsets": [end, end + shape.bytes]}
        end += shape.bytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    write_hole(path, struct.pack("<Q", len(text)) + text, 8 + len(text) + end)
    return end


def write_hole(path: str, head: bytes, size: int) -> None:
    """Writes a file of `size` bytes that begins with `head` and holds nothing else."""
    if size < len(head):
        raise ValueError(f"{path} would have {size} bytes, expected at least the {len(head)} of its header")
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(size)
