"""Parameters that optimizers hold and that no step trained: a later phase of the training would need memory for them.

A warm-up that leaves the discriminator alone, epochs with a frozen backbone: the steps of a dry run are the first ones.
"""

from collections.abc import Iterator

import torch

from .. import records


def list_untrained(places: dict[torch.optim.Optimizer, tuple[str, int]], stepped: set[torch.optim.Optimizer]) -> Iterator[dict]:
    """The records of `places`' optimizers; none while no optimizer made a step."""
    trained = {id(parameter) for optimizer in stepped for parameter in _parameters(optimizer)}
    for optimizer, (file, line) in places.items():
        if optimizer in stepped:
            reason, left = "frozen", [it for it in _parameters(optimizer) if not it.requires_grad]
        else:
            reason, left = "no-step", [it for it in _parameters(optimizer) if id(it) not in trained]
        left = [it for it in left if it.device.type == "cuda"]
        if stepped and left:
            size = sum(it.numel() * it.element_size() for it in left)
            name = type(optimizer).__name__
            yield records.untrained(reason=reason, optimizer=name, file=file, line=line, count=len(left), bytes=size)


def _parameters(optimizer: torch.optim.Optimizer) -> Iterator[torch.Tensor]:
    for group in optimizer.param_groups:
        yield from group["params"]
