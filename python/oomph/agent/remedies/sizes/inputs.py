"""The model's input: the shape of the first tensor in training, which must have a changed size."""

import torch
from torch.nn.modules import module as nn_module

from . import Scaling


def install(scaling: Scaling) -> None:
    """Inspects the first call of a module with a tensor on a GPU, while a graph is recorded; no later call."""

    def hook(_module: torch.nn.Module, args) -> None:
        if scaling.shape is not None or torch.compiler.is_compiling() or not torch.is_grad_enabled():
            return
        for value in args:
            if isinstance(value, torch.Tensor) and value.is_cuda and value.dim():
                scaling.shape = tuple(value.shape)
                handle.remove()
                return

    handle = nn_module.register_module_forward_pre_hook(hook)
