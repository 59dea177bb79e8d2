"""Finds a module like the other finders, and watches its loading.

Imports nothing but what Python itself has imported: in a real run this file is all that is loaded before the program's own first import.
"""

import sys


class Finder:
    """Waits in `sys.meta_path` for the first import of modules, then calls the actions of the module."""

    def __init__(self, name, action) -> None:
        self.actions = {name: [action]}

    def add(self, name, action) -> None:
        """Waits for a further module, or with a further action."""
        self.actions.setdefault(name, []).append(action)

    def find_spec(self, fullname, path=None, target=None):
        """The answer of the later finders, with a loader that reports the end of loading."""
        self._stay_first()
        if fullname not in self.actions:
            return None
        spec = self._find_in_rest(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = Loader(spec.loader, self)
        return spec

    def loaded(self, name) -> None:
        """Acts after a successful import, and leaves after the last. (A program may repeat a failed import, so the finder stays.)"""
        actions = self.actions.pop(name, ())
        if not self.actions and self in sys.meta_path:
            sys.meta_path.remove(self)
        for action in actions:
            action()

    def _stay_first(self) -> None:
        """Moves to the front: the finder of comet_ml, for example, finds torch without the other finders."""
        if sys.meta_path[0] is not self and self in sys.meta_path:
            sys.meta_path.remove(self)
            sys.meta_path.insert(0, self)

    def _find_in_rest(self, name, path, target):
        # Earlier finders have answered already. A later finder of this kind may wait, too.
        rest = sys.meta_path[sys.meta_path.index(self) + 1 :] if self in sys.meta_path else []
        for finder in rest:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                return spec
        return None


class Loader:
    """Replaces the real loader until the module's code runs, so that no inspection of the module finds a foreign loader."""

    def __init__(self, real, finder: Finder) -> None:
        self.real = real
        self.finder = finder

    def __getattr__(self, name):
        """Further questions are for the real loader: a program may look for a module without an import."""
        return getattr(self.real, name)

    def create_module(self, spec):
        """As the real loader does."""
        return self.real.create_module(spec)

    def exec_module(self, module) -> None:
        """Puts the real loader back, runs the module, then reports it."""
        module.__spec__.loader = self.real
        module.__loader__ = self.real
        self.real.exec_module(module)
        self.finder.loaded(module.__spec__.name)
