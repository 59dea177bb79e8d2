"""The loops of libraries that train, which are shortened without a change of their sources.

Note [Frameworks]
~~~~~~~~~~~~~~~~~
A library's loop is watched where it calls a function of its own once in a pass. Its loader jumps, and the library's counters are raised by what
was jumped over. So evaluation, checkpoints and the end of an epoch come due after few passes, at the steps at which they would have come.
Where a version of a library keeps its counters elsewhere, its loops run as they are.
"""

from ..passes import Control
from . import lightning, trainer, trainer_evaluation
from .watched import Watched, list_shortened

__all__ = ["Watched", "install", "list_shortened"]


def install(control: Control) -> None:
    """Watches the loops of the libraries that the program imports."""
    lightning.install(control)
    trainer.install(control)
    trainer_evaluation.install(control)
