"""weights-4bit: the weights of linear layers in NF4, by bitsandbytes' `Linear4bit`."""

import torch

from . import Remedy, quantized


def install(remedy: Remedy) -> None:
    """Frozen weights alone; see `quantized`."""
    quantized.install(remedy, 4, _make)


def _make(modules, linear: torch.nn.Linear) -> torch.nn.Linear:
    sizes = linear.in_features, linear.out_features
    made = modules.Linear4bit(*sizes, bias=linear.bias is not None, quant_type="nf4", device="meta")
    made.weight = modules.Params4bit(linear.weight.data, requires_grad=False, quant_type="nf4", module=made)
    made.bias = linear.bias
    return made
