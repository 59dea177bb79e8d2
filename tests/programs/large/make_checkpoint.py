"""Writes a checkpoint whose weights are a hole in the file: true headers, sizes and names, and nothing on the disk.

    make_checkpoint.py FOLDER SIZE safetensors|sharded|bin
"""

import json
import math
import struct
import sys
from pathlib import Path

import llama


def write_safetensors(path: Path, tensors: list) -> None:
    """A safetensors file of bf16 tensors."""
    header, at = {}, 0
    for name, shape in tensors:
        end = at + 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + at)


def write_sharded(folder: Path, tensors: list) -> None:
    """Two files and their index."""
    half = len(tensors) // 2
    names = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
    weight_map = {}
    for name, part in zip(names, (tensors[:half], tensors[half:])):
        write_safetensors(folder / name, part)
        weight_map |= {tensor: name for tensor, _ in part}
    index = {"metadata": {"total_size": 2 * llama.elements(iter(tensors))}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def write_bin(path: Path, tensors: list) -> None:
    """Writes a state dict as `torch.save` does."""
    import torch

    state = {name: torch.empty(shape, dtype=torch.bfloat16) for name, shape in tensors}
    with torch.serialization.skip_data():
        torch.save(state, path)


def main() -> None:
    """Writes the weights and the configuration beside them."""
    folder, size, kind = Path(sys.argv[1]), llama.SIZES[sys.argv[2]], sys.argv[3]
    folder.mkdir()
    tensors = [*llama.linears(size), *llama.others(size)]
    if kind == "safetensors":
        write_safetensors(folder / "model.safetensors", tensors)
    elif kind == "sharded":
        write_sharded(folder, tensors)
    else:
        write_bin(folder / "pytorch_model.bin", tensors)
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "dtype": "bfloat16", **size}
    (folder / "config.json").write_text(json.dumps(config))


main()
