"""Records what modules return."""

from collections import defaultdict

import torch
from torch import nn


class Recorder:
    """Keeps the outputs of modules, by name, for a later look."""

    def __init__(self, model: nn.Module, *names: str) -> None:
        self.features: defaultdict[str, list[torch.Tensor]] = defaultdict(list)
        for name in names:
            model.get_submodule(name).register_forward_hook(self.hook(name))

    def hook(self, name: str):
        def record(_module: nn.Module, _inputs: tuple, output: torch.Tensor) -> None:
            self.features[name].append(output)
        return record

    def latest(self, name: str) -> torch.Tensor:
        return self.features[name][-1]
