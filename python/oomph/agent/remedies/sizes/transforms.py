"""The size of images after torchvision's transforms.

A pipeline's last size is the model's input; earlier sizes (resize to 256, then crop 224) keep their ratio to the last.
"""

from ...failure import guarded
from ...hooks import around, events
from . import Scaling

_SIZED = {"Resize", "RandomResizedCrop", "CenterCrop", "RandomCrop", "FiveCrop", "TenCrop"}


def install(scaling: Scaling) -> None:
    """Inspects each `Compose`, the class of pipelines."""
    for module in ("torchvision.transforms.transforms", "torchvision.transforms.v2._container"):
        around(f"{module}:Compose.__init__", events.before(lambda _compose, transforms, *_args, **_kwargs: guarded(_meet)(scaling, transforms)))


def _meet(scaling: Scaling, transforms) -> None:
    sized = [one for one in transforms if type(one).__name__ in _SIZED and _side(one.size) is not None]
    if not sized:
        return
    size = _side(sized[-1].size)
    is_reckoned = scaling.has_scaled() and not scaling.was(size)
    new = scaling.meet("transform", type(sized[-1]).__name__, size, is_training=not is_reckoned)
    if new != size:
        for one in sized:
            one.size = _scaled(one.size, new, size)


def _side(size) -> int | None:
    """The height, of a square; torchvision keeps a number, or a pair of them."""
    if isinstance(size, int):
        return size
    sides = set(size) if isinstance(size, (tuple, list)) else set()
    return sides.pop() if len(sides) == 1 else None


def _scaled(size, new: int, old: int):
    if isinstance(size, int):
        return round(size * new / old)
    return type(size)(round(side * new / old) for side in size)
