"""What the objects of frameworks say is to come: evaluations and saves of Hugging Face's `Trainer` and of Lightning's."""

import sys
from collections.abc import Callable
from types import FrameType

from .. import local_variables


def look(frame: FrameType, add: Callable) -> None:
    """Adds what the trainer that runs in a library's frame has before it."""
