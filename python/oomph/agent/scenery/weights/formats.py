"""The formats of weight files by their endings, and what writes a hollow file of each. See Note [Missing weights]."""

import importlib
import os
from collections.abc import Callable

from ...host import hollow
from .headers import write_hollow_safetensors
from .ranges import BadAnswer

# A smaller file is fetched whole: the values cost less than the request.
LEAST_BYTES = 1 << 20

# Writes a hollow file at a path, of a size in bytes, with parts of the original that a function reads by offset and size; returns the numbers
# of tensors, of their bytes, and of the bytes of the header.
Writer = Callable[[str, int, Callable[[int, int], bytes]], tuple[int, int, int]]


def write_archive(path: str, size: int, read: Callable[[int, int], bytes]) -> tuple[int, int, int]:
    """A file of `torch.save`, or of another format that `torch.load` reads."""
    # The module imports torch, which the program may not have imported yet.
    archives = importlib.import_module(".archives", __package__)
    try:
        contents = archives.write_hollow_archive(path, size, read)
    except archives.ArchiveError as error:
        raise BadAnswer(f"{os.path.basename(path)} {error}") from error
    return contents.tensors, contents.bytes, 0


def write_gguf(path: str, size: int, read: Callable[[int, int], bytes]) -> tuple[int, int, int]:
    """A GGUF file."""
    gguf_files = importlib.import_module(".gguf_files", __package__)
    try:
        return gguf_files.write_hollow_gguf(path, size, read)
    except BadAnswer:
        raise
    except ValueError as error:
        raise BadAnswer(f"{os.path.basename(path)}: {error}") from error


def write_hole_only(path: str, size: int, _read: Callable[[int, int], bytes]) -> tuple[int, int, int]:
    """A file of a format that PyTorch does not load: nothing is fetched."""
    hollow.write_hole(path, b"", size)
    return 0, size, 0


def refuse(path: str, _size: int, _read: Callable[[int, int], bytes]) -> tuple[int, int, int]:
    """The default: no header of the format can be read, and a dry run fetches no weights whole."""
    raise BadAnswer(f"{os.path.basename(path)} is a weight file without a header to fetch, expected one of {', '.join(FORMATS)}")


FORMATS: dict[str, Writer] = {
    ".safetensors": write_hollow_safetensors,
    ".bin": write_archive,
    ".pt": write_archive,
    ".pth": write_archive,
    ".ckpt": write_archive,
    ".gguf": write_gguf,
    ".h5": write_hole_only,
    ".msgpack": write_hole_only,
    ".onnx": write_hole_only,
    ".onnx_data": write_hole_only,
    ".tflite": write_hole_only,
    ".ot": write_hole_only,
}


def is_weight_file(name: str, size: int | None) -> bool:
    """True for a file of weights, of a size in bytes if known, that is not worth fetching whole."""
    ending = os.path.splitext(name)[1].lower()
    return (size is None or size >= LEAST_BYTES) and ending in FORMATS


def find_writer(name: str) -> Writer:
    """The writer of hollow files for the name of a file."""
    return FORMATS.get(os.path.splitext(name)[1].lower(), refuse)
