"""torch's DataLoader, and its batch samplers made by the program."""

import inspect
import os
from types import FrameType

import torch
from torch.utils.data import DataLoader

from ...failure import guarded
from ...hooks import around, events, innermost
from ...process import frames, local_variables
from . import Scaling, evaluation

# Frameworks that make DataLoaders anew from the program's, or from their own arguments.
_FRAMEWORKS = ("lightning", "pytorch_lightning", "lightning_fabric", "accelerate", "transformers")
_TORCH = os.path.dirname(torch.__file__) + os.sep


def install(scaling: Scaling) -> None:
    """Inspects each DataLoader of the program."""
    seen = evaluation.Seen()

    def layer(init, *args, **kwargs):
        signature = inspect.signature(innermost(init))
        changed = guarded(_changed)(signature, args, kwargs, scaling, seen)
        if changed is None:
            init(*args, **kwargs)
        else:
            init(*changed.args, **changed.kwargs)

    events.around_loader_made(layer)
    around("torch.utils.data.sampler:BatchSampler.__init__", layer)


def _changed(signature: inspect.Signature, args: tuple, kwargs: dict, scaling: Scaling, seen) -> inspect.BoundArguments | None:
    """The loader's arguments with another batch size; `None` if the loader's size stays."""
    loader = args[0]
    frame = _maker(inspect.currentframe(), loader)
    if frame is None or _is_frameworks(frame):
        return None
    bound = signature.bind(*args, **kwargs)
    given = bound.arguments
    size = given.get("batch_size", 1)
    if given.get("batch_sampler") is not None or not isinstance(size, int):
        return None
    is_training = not seen.is_evaluation(frame, given)
    # A size unlike every changed size: the program computed this size from a changed size.
    is_reckoned = scaling.has_scaled() and not scaling.was(size)
    name = "DataLoader" if isinstance(loader, DataLoader) else "BatchSampler"
    new = scaling.meet("loader", name, size, is_training=is_training and not is_reckoned)
    if new == size:
        return None
    given["batch_size"] = new
    return bound


def _maker(frame: FrameType | None, loader) -> FrameType | None:
    """The frame that makes the loader: the first frame outside the agent and outside constructors; `None` if PyTorch makes it.

    Constructors of derived classes, and Lightning's wrappers around constructors, have the loader as their first argument.
    """
    while frame is not None:
        code = frame.f_code
        is_constructor = code.co_argcount > 0 and local_variables.read(frame, code.co_varnames[0]) is loader
        if not is_constructor and not frames.is_agents(code.co_filename):
            return None if code.co_filename.startswith(_TORCH) else frame
        frame = frame.f_back
    return None


def _is_frameworks(frame: FrameType) -> bool:
    package = frame.f_globals.get("__name__", "").partition(".")[0]
    return package in _FRAMEWORKS
