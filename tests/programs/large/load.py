"""Brings the weights of a checkpoint to the GPU: load.py FOLDER WAY."""

import sys
from pathlib import Path

import torch
import usage


def from_pretrained(folder: Path, dtype: torch.dtype) -> object:
    """Transformers' own way: on the host, then moved."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).cuda()


def load_file(folder: Path) -> object:
    """safetensors straight to the GPU."""
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors", device="cuda")


def load_and_cast(folder: Path) -> object:
    """safetensors on the host, cast there."""
    from safetensors.torch import load_file

    return {name: tensor.float().cuda() for name, tensor in load_file(folder / "model.safetensors").items()}


def torch_load(folder: Path, **options) -> object:
    """A state dict as it is."""
    return torch.load(folder / "pytorch_model.bin", map_location="cuda", **options)


def state_dict(folder: Path, assign: bool) -> object:
    """A model on the host that takes a state dict, and is moved."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.set_default_dtype(torch.bfloat16)
    model = LlamaForCausalLM(LlamaConfig.from_pretrained(folder))
    model.load_state_dict(torch.load(folder / "pytorch_model.bin", map_location="cpu"), assign=assign)
    return model.cuda()


WAYS = {
    "from_pretrained-bf16": lambda folder: from_pretrained(folder, torch.bfloat16),
    "from_pretrained-fp16": lambda folder: from_pretrained(folder, torch.float16),
    "from_pretrained-fp32": lambda folder: from_pretrained(folder, torch.float32),
    "load_file": load_file,
    "load_file-cast": load_and_cast,
    "torch.load": torch_load,
    "torch.load-mmap": lambda folder: torch_load(folder, mmap=True),
    "load_state_dict": lambda folder: state_dict(folder, assign=False),
    "load_state_dict-assign": lambda folder: state_dict(folder, assign=True),
}

before = usage.read_bytes()
kept = WAYS[sys.argv[2]](Path(sys.argv[1]))
usage.write(read_bytes=usage.read_bytes() - before)
