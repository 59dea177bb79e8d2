"""Writes the state dict of a model as a hollow checkpoint, in the formats of the libraries. See Note [Missing weights]."""

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import torch

from ...host import hollow
from ...host.hollow import Shape

# Endings of the files of weights: a folder with such a file is not a folder of a configuration alone.
_ENDINGS = (".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".h5", ".msgpack", ".index.json", ".onnx")
# The shards of the Hub's large checkpoints.
MOST_SHARD_BYTES = 5_000_000_000
_DTYPES = {short: getattr(torch, name) for name, short in hollow.NAMES.items() if hasattr(torch, name)}
# The order of tensors in a file: large dtypes first (`Dtype` and `prepare`, safetensors 0.8). Libraries load in the order of the file.
_ORDER = (
    "U64", "I64", "F64", "C64", "F32", "U32", "I32", "BF16", "F16", "U16", "I16", "F8_E8M0", "F8_E4M3", "F8_E5M2", "I8", "U8", "BOOL",
)  # fmt: skip
_numbers = itertools.count()


@dataclass(frozen=True)
class State:
    """The tensors of a checkpoint, and the bytes of the few whose values a library reads."""

    shapes: dict[str, Shape]
    values: dict[str, bytes] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """Bytes of all tensors."""
        return sum(shape.bytes for shape in self.shapes.values())

    def select(self, names: Iterable[str]) -> "State":
        """The tensors of these names; unknown names are left out."""
        known = [name for name in names if name in self.shapes]
        return State({name: self.shapes[name] for name in known}, {name: self.values[name] for name in known if name in self.values})


def state_of(tensors: Mapping[str, object]) -> State:
    """The state of a state dict; entries that are no tensors are left out, as safetensors does."""
    return State({name: hollow.shape_of(tensor) for name, tensor in tensors.items() if isinstance(tensor, torch.Tensor)})


def has_weights(folder: str) -> bool:
    """True if a folder holds a file of weights, under any name."""
    return any(name.endswith(_ENDINGS) for name in os.listdir(folder))


def make_folder() -> str:
    """A new folder for one hollow checkpoint."""
    folder = os.path.join(hollow.make_folder(os.getpid()), str(next(_numbers)))
    os.makedirs(folder)
    return folder


def write_file(path: str, state: State, metadata: Mapping[str, str] | None = None) -> None:
    """Writes a hollow file, of `torch.save` if the name ends so, else of safetensors."""
    if path.endswith((".bin", ".pt", ".pth")):
        _write_pickle(path, state)
        return
    shapes = dict(sorted(state.shapes.items(), key=lambda item: (_ORDER.index(item[1].dtype), item[0])))
    total = hollow.write_safetensors(path, shapes, metadata)
    start = os.path.getsize(path) - total
    with open(path, "r+b") as file:
        for name, shape in shapes.items():
            if name in state.values:
                file.seek(start)
                file.write(state.values[name])
            start += shape.bytes


def _write_pickle(path: str, state: State) -> None:
    """The storages are never written: `skip_data` leaves their place in the file."""
    tensors = {name: torch.empty(shape.sizes, dtype=_DTYPES[shape.dtype], device="cpu") for name, shape in state.shapes.items()}
    with torch.serialization.skip_data():
        torch.save(tensors, path)


def write_shards(stem: str, ending: str, state: State) -> tuple[list[str], dict[str, str]]:
    """Writes one file, or shards of 5 GB as a real save does; returns the paths, and the file's name by tensor."""
    folder, parts = make_folder(), list(_split(state))
    count = len(parts)
    names = [f"{stem}{ending}"] if count == 1 else [f"{stem}-{number:05}-of-{count:05}{ending}" for number in range(1, count + 1)]
    for name, part in zip(names, parts):
        write_file(os.path.join(folder, name), state.select(part))
    places = {tensor: name for name, part in zip(names, parts) for tensor in part}
    return [os.path.join(folder, name) for name in names], places


def _split(state: State) -> Iterator[list[str]]:
    """The names of the tensors of each shard, in order."""
    part: list[str] = []
    size = 0
    for name, shape in state.shapes.items():
        if part and size + shape.bytes > MOST_SHARD_BYTES:
            yield part
            part, size = [], 0
        part.append(name)
        size += shape.bytes
    yield part
