"""Hugging Face's TrainingArguments and the derived classes of other libraries."""

import functools
import sys

from ...failure import guarded
from ...hooks.importing import after_import
from . import Scaling


def install(scaling: Scaling) -> None:
    """Inspects the fields of each `TrainingArguments`, before they are read."""
    after_import("transformers.training_args", lambda: _watch(scaling))


def _watch(scaling: Scaling) -> None:
    owner = sys.modules["transformers.training_args"].TrainingArguments
    init = owner.__post_init__

    @functools.wraps(init)
    def wrapper(self, *args, **kwargs):
        guarded(_meet)(scaling, self)
        init(self, *args, **kwargs)

    owner.__post_init__ = wrapper


def _meet(scaling: Scaling, arguments) -> None:
    for name, size in list(vars(arguments).items()):
        if isinstance(size, int) and not isinstance(size, bool) and (scaling.is_named(name) or scaling.rank(name) is not None):
            setattr(arguments, name, scaling.meet("training-arguments", name, size))
