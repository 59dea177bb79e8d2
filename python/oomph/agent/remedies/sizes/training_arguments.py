"""Hugging Face's TrainingArguments and the derived classes of other libraries."""

from ...failure import guarded
from ...hooks import events
from . import Scaling


def install(scaling: Scaling) -> None:
    """Inspects the fields of each `TrainingArguments`, before they are read."""
    events.before_training_arguments(lambda arguments: guarded(_meet)(scaling, arguments))


def _meet(scaling: Scaling, arguments) -> None:
    for name, size in list(vars(arguments).items()):
        if isinstance(size, int) and not isinstance(size, bool) and (scaling.is_named(name) or scaling.rank(name) is not None):
            setattr(arguments, name, scaling.meet("training-arguments", name, size))
