"""Makes up the data sets of torchvision that are not there. See Note [Made-up data]."""

import inspect
import os
import sys
from collections.abc import Callable

from ... import phantom
from ...hooks import innermost
from ...hooks.rows.libraries import PICTURE_SETS, picture_set
from ..weights import ledger
from . import fillings, is_made_up, picture_sets


def _load(call, made, *args, **kwargs):
    """The layer of the `__init__` of a class."""
    try:
        bound = inspect.signature(innermost(call)).bind(made, *args, **kwargs)
    except TypeError:
        return call(made, *args, **kwargs)
    bound.apply_defaults()
    if is_made_up():
        return _load_or_fill(made, call, bound)
    try:
        return call(made, *args, **kwargs)
    except (RuntimeError, OSError) as error:
        if phantom.find() is not None:
            _say_name(error, type(made).__name__, bound.arguments.get("root"))
        raise


def _load_or_fill(made, call: Callable, bound: inspect.BoundArguments) -> None:
    """The files that are there, without a download; else made-up pictures. A folder that is there is never made up."""
    if "download" in bound.arguments:
        bound.arguments["download"] = False
    try:
        return call(*bound.args, **bound.kwargs)
    except (RuntimeError, OSError, ImportError) as error:
        if _is_there(made, bound.arguments):
            raise
        try:
            name = fillings.fill(made, bound.arguments)
        except KeyError as unknown:
            known = ", ".join(sorted({name.partition(" ")[0] for name in picture_sets.SETS}))
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


LAYERS = {picture_set(name): _load for name in PICTURE_SETS}
