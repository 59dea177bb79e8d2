"""Changing the main script's syntax tree before Python compiles it.

Note [Main script]
~~~~~~~~~~~~~~~~~~
`python train.py` is compiled by the interpreter itself, and no import hook sees the script. But before compiling, the interpreter asks
`sys.path_hooks` if the script is importable, as a folder or an archive with a `__main__` is (`pymain_get_importer` in CPython's
Modules/main.c). `rewrite` answers yes for the script, with a `__main__` of the changed tree. Python then runs the script as a module, with
two differences: the script replaces its folder on the path, and `__spec__` calls `__main__` imported, so that `multiprocessing` would not
find the script in a spawned child. `rewrite` corrects both, so that the program sees no difference. The rewriting works in a child of the
fork server too, which Python starts like any program.

A script that is not changed, cannot be read, or has no valid syntax is left to the interpreter.
"""

import ast
import importlib.machinery
import os
import sys
from collections.abc import Callable

from . import notebook, trees

# The state of `__main__` under `python train.py`, as the first statement of the tree.
_PLAIN = "__spec__ = __package__ = __cached__ = None"


def rewrite(transform: Callable[[ast.Module, str], bool]) -> None:
    """Registers `transform(tree, file)`, which changes the main script's tree in place and returns True for a change.

    Must be called while `sitecustomize` is imported. Transforms are called in the order of registration.
    """
    _transforms.append(transform)
    take_notebooks()


def take_notebooks() -> None:
    """Lets a notebook be the main script, changed or not. Must be called while `sitecustomize` is imported."""
    if _hook not in sys.path_hooks:
        sys.path_hooks.insert(0, _hook)


def transformed(tree: ast.Module, file: str) -> bool:
    """Applies every transform to a tree; True if a transform changed the tree."""
    return any([transform(tree, file) for transform in _transforms])


_transforms: list[Callable[[ast.Module, str], bool]] = []


def _hook(path: str):
    """A finder for the main script alone."""
    script = sys.argv[0] if getattr(sys, "argv", None) else ""
    if not script or os.path.abspath(path) != os.path.abspath(script) or not os.path.isfile(path):
        raise ImportError
    code = _compiled(path)
    if code is None:
        raise ImportError
    return _Finder(path, code)


def _compiled(path: str):
    """The changed script, or a notebook; `None` for an unchanged script."""
    if path.endswith(notebook.ENDING):
        return notebook.compile_cells(path, transformed)
    if not _transforms:
        return None
    tree = trees.parse_script(path)
    if tree is None or not transformed(tree, path):
        return None
    tree.body[_start(tree) : _start(tree)] = ast.parse(_PLAIN).body
    return compile(tree, path, "exec", dont_inherit=True)


def _start(tree: ast.Module) -> int:
    """The index for a new first statement: after the docstring and `from __future__`."""
    is_docstring = ast.get_docstring(tree, clean=False) is not None
    futures = [n for n, node in enumerate(tree.body) if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    return max([int(is_docstring), *(n + 1 for n in futures)])


class _Finder:
    """Finds `__main__` in the script."""

    def __init__(self, path: str, code) -> None:
        self.path = path
        self.code = code

    def find_spec(self, name: str, target=None):
        """The script as `__main__`, the only module here."""
        if name != "__main__":
            return None
        self._restore()
        loader = _Loader("__main__", self.path)
        loader.code = self.code
        return importlib.machinery.ModuleSpec("__main__", loader, origin=self.path)

    def _restore(self) -> None:
        """The script's folder on the path, where the interpreter put the script; and no trace of how it was found."""
        if sys.path and sys.path[0] == self.path:
            folder = os.path.dirname(os.path.realpath(self.path))
            sys.path[:1] = [] if getattr(sys.flags, "safe_path", False) else [folder]
        sys.path_importer_cache.pop(self.path, None)
        sys.path_hooks.remove(_hook)


class _Loader(importlib.machinery.SourceFileLoader):
    """The loader of a script, with the compiled code at hand."""

    code = None

    def get_code(self, _name: str):
        """The changed code."""
        return self.code
