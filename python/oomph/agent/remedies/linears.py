"""The linear layers of a model that a remedy replaces, and a test for training."""

import weakref

import torch

from ..hooks import events


def inner_linears(root: torch.nn.Module) -> dict[str, torch.nn.Linear]:
    """Every `Linear` by its name; the output layer of a language model stays in full precision, as in transformers."""
    head = root.get_output_embeddings() if hasattr(root, "get_output_embeddings") else None
    found = {name: module for name, module in root.named_modules() if type(module) is torch.nn.Linear and module is not head}
    frozen = {name: linear for name, linear in found.items() if not linear.weight.requires_grad}
    # If a part is frozen, the program trains the rest: adapters, a head.
    return {name: linear for name, linear in (frozen or found).items() if name}


class Optimizers:
    """The optimizers that the program made."""

    def __init__(self) -> None:
        self._made: weakref.WeakSet[torch.optim.Optimizer] = weakref.WeakSet()
        self.count = 0
        events.on_optimizer_made(self._add)

    def have(self, root: torch.nn.Module) -> bool:
        """True if an optimizer updates a parameter of `root`."""
        theirs = {id(parameter) for one in self._made for group in one.param_groups for parameter in group["params"]}
        return any(id(parameter) in theirs for parameter in root.parameters())

    def _add(self, optimizer: torch.optim.Optimizer) -> None:
        self.count += 1
        self._made.add(optimizer)
