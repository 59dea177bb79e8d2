"""Makes up the data sets of torchvision that are not there. See Note [Made-up data]."""

import inspect
import os
import sys
from collections.abc import Callable

from ... import phantom
from ...hooks import innermost
from ...hooks.replacing import Layer
from ...hooks.rows.libraries import picture_set
from ..weights import ledger
from . import fillings, is_made_up

# By class: the function that fills it. Classes below them call the same `__init__`.
_FILLINGS: dict[str, Callable] = {
    "MNIST": fillings.fill_mnist, "CIFAR10": fillings.fill_cifar, "SVHN": fillings.fill_svhn, "STL10": fillings.fill_stl10,
    "USPS": fillings.fill_usps, "ImageNet": fillings.fill_imagenet, "ImageFolder": fillings.fill_folder, "Food101": fillings.fill_labelled,
    "Flowers102": fillings.fill_labelled, "FGVCAircraft": fillings.fill_labelled, "DTD": fillings.fill_labelled,
    "OxfordIIITPet": fillings.fill_pets, "Places365": fillings.fill_places, "CelebA": fillings.fill_celeba, "CocoDetection": fillings.fill_coco,
}  # fmt: skip
_VOC = ("VOCSegmentation", "VOCDetection")


def _make(fill: Callable) -> Layer:
    """The layer of the `__init__` of a class."""

    def layer(call, made, *args, **kwargs):
        try:
            bound = inspect.signature(innermost(call)).bind(made, *args, **kwargs)
        except TypeError:
            return call(made, *args, **kwargs)
        bound.apply_defaults()
        if is_made_up():
            return _load_or_fill(made, call, bound, fill)
        try:
            return call(made, *args, **kwargs)
        except (RuntimeError, OSError) as error:
            if phantom.find() is not None:
                _say_name(error, type(made).__name__, bound.arguments.get("root"))
            raise

    return layer


def _load_or_fill(made, original: Callable, bound: inspect.BoundArguments, fill: Callable) -> None:
    """The files that are there, without a download; else made-up pictures. A folder that is there is never made up."""
    if "download" in bound.arguments:
        bound.arguments["download"] = False
    try:
        return original(*bound.args, **bound.kwargs)
    except (RuntimeError, OSError, ImportError) as error:
        if _is_there(made, bound.arguments):
            raise
        try:
            name = fill(made, bound.arguments)
        except KeyError as unknown:
            known = ", ".join(sorted({*_FILLINGS, *_VOC}))
            kind = type(made).__name__
            raise RuntimeError(f"--fake-data makes up no {kind} of {unknown}, which is not on this machine; it knows the splits of {known}") from error
    ledger.note(ledger.DATA, name, ledger.SHAPES)


def _is_there(made, arguments: dict) -> bool:
    """True for files of the program's own that were found, and are wrong."""
    module = sys.modules["torchvision.datasets"]
    own = "annFile" if isinstance(made, module.CocoDetection) else "root"
    is_own = own == "annFile" or (isinstance(made, module.ImageFolder) and not isinstance(made, module.ImageNet))
    return is_own and os.path.exists(os.path.expanduser(str(arguments[own])))


def _say_name(error: Exception, kind: str, root: object) -> None:
    """Puts the name of the set into an error of torchvision, which has none."""
    if len(error.args) == 1 and isinstance(error.args[0], str) and isinstance(error, RuntimeError):
        error.args = (f"{kind} is not in {root}: {error.args[0]}",)
    elif hasattr(error, "reason"):
        error.reason = f"{kind} is not in {root}, and cannot be fetched: {error.reason}"


LAYERS = {picture_set(name): _make(fill) for name, fill in {**_FILLINGS, "voc._VOCBase": fillings.fill_voc}.items()}
