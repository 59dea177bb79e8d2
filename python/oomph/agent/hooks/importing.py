"""Runs a function right after a module has been imported for the first time."""

import sys
from collections.abc import Callable

from ..failure import guarded
from .finder import Finder


def after_import(name: str, action: Callable[[], None]) -> None:
    """Calls `action` when the import of `name` has succeeded; at once if the module is there already."""
    if name in sys.modules:
        guarded(action)()
    else:
        sys.meta_path.insert(0, Finder(name, guarded(action)))
