"""weights-8bit: the weights of linear layers in 8 bits, by bitsandbytes' `Linear8bitLt`."""

import torch

from . import Remedy, quantized


def install(remedy: Remedy) -> None:
    """Frozen weights alone; see `quantized`."""
    quantized.install(remedy, 8, _make)


def _make(modules, linear: torch.nn.Linear) -> torch.nn.Linear:
    sizes = linear.in_features, linear.out_features
    made = modules.Linear8bitLt(*sizes, bias=linear.bias is not None, has_fp16_weights=False, threshold=6.0, device="meta")
    made.weight = modules.Int8Params(linear.weight.data, requires_grad=False, has_fp16_weights=False)
    made.bias = linear.bias
    return made
