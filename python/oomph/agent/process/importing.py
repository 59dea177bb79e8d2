"""Runs a function right after a module has been imported for the first time."""

import importlib.abc
import sys
from collections.abc import Callable

from .failure import guarded


def after_import(name: str, action: Callable[[], None]) -> None:
    """Calls `action` when the import of `name` has succeeded; at once if the module is there already."""
    if name in sys.modules:
        guarded(action)()
    else:
        sys.meta_path.insert(0, _Finder(name, guarded(action)))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds a module with the other finders, and watches its loading."""

    def __init__(self, name: str, action: Callable[[], None]) -> None:
        self.name = name
        self.action = action

    def find_spec(self, fullname, path=None, target=None):
        """The answer of the later finders, with a loader that reports the end of loading."""
        if fullname != self.name:
            return None
        spec = self._find_in_rest(path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self)
        return spec

    def loaded(self) -> None:
        """Leaves after a successful import, then acts. (A program may repeat a failed import, so the finder stays.)"""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            self.action()

    def _find_in_rest(self, path, target):
        # Earlier finders have answered already. A later finder of this kind may wait for the same module.
        rest = sys.meta_path[sys.meta_path.index(self) + 1 :] if self in sys.meta_path else []
        for finder in rest:
            find = getattr(finder, "find_spec", None)
            spec = find(self.name, path, target) if find else None
            if spec is not None:
                return spec
        return None


class _Loader(importlib.abc.Loader):
    """Replaces the real loader until the module's code runs, so that no inspection of the module finds a foreign loader."""

    def __init__(self, real, finder: _Finder) -> None:
        self.real = real
        self.finder = finder

    def create_module(self, spec):
        """As the real loader does."""
        return self.real.create_module(spec)

    def exec_module(self, module) -> None:
        """Puts the real loader back, runs the module, then reports it."""
        module.__spec__.loader = self.real
        module.__loader__ = self.real
        self.real.exec_module(module)
        self.finder.loaded()
