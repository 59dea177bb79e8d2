"""Runs a function right after a module has been imported for the first time."""

import sys
from collections.abc import Callable

from ..failure import guarded
from .finder import Finder

_finder: Finder | None = None


def after_import(name: str, action: Callable[[], None]) -> None:
    """Calls `action` when the import of `name` has succeeded; at once if the module is there already."""
    global _finder
    if name in sys.modules:
        guarded(action)()
        return
    if _finder is not None and _finder in sys.meta_path:
        # In front of the finders of others.
        sys.meta_path.remove(_finder)
        _finder.add(name, guarded(action))
    else:
        _finder = Finder(name, guarded(action))
    sys.meta_path.insert(0, _finder)
