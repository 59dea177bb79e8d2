"""Programs with a library's training loop: there a remedy is an argument of the library, as a user would pass it."""

import functools
import sys
from collections.abc import Callable

from ..hooks import importing

_LIGHTNING = ("lightning.pytorch.trainer.trainer", "pytorch_lightning.trainer.trainer")


def before_training_arguments(action: Callable[[object], None]) -> None:
    """Calls `action(arguments)` on each `TrainingArguments` of transformers, before it checks itself."""
    importing.after_import("transformers.training_args", lambda: _before_check(action))


def before_lightning_trainer(action: Callable[[dict], None]) -> None:
    """Calls `action(keywords)` before each construction of Lightning's `Trainer`; the action may change the keywords."""
    for name in _LIGHTNING:
        importing.after_import(name, functools.partial(_before_construction, name, action))


def _before_check(action: Callable[[object], None]) -> None:
    arguments = sys.modules["transformers.training_args"].TrainingArguments
    check = arguments.__post_init__

    @functools.wraps(check)
    def wrapper(self, *args, **kwargs):
        action(self)
        check(self, *args, **kwargs)

    arguments.__post_init__ = wrapper


def _before_construction(name: str, action: Callable[[dict], None]) -> None:
    trainer = sys.modules[name].Trainer
    init = trainer.__init__

    @functools.wraps(init)
    def wrapper(self, *args, **kwargs):
        action(kwargs)
        init(self, *args, **kwargs)

    trainer.__init__ = wrapper
