"""Has Python compile the program's own sources with changed loops: the main script, and each module of the program's own."""

import ast
import copy
import importlib.machinery

from .. import hooks
from ..process import frames
from ..source import script, trees
from .rewriting import rewrite


def install() -> None:
    """Changes sources from now on. Must be called while `sitecustomize` is imported."""
    script.rewrite(_change)
    hooks.around("importlib.machinery:SourceFileLoader.get_code", _compile)


def _change(tree: ast.Module, file: str) -> bool:
    try:
        original = copy.deepcopy(tree)
    except RecursionError:
        # An expression nested more deeply than functions of Python call each other.
        return False
    return rewrite(tree, file, original)


def _compile(get_code, loader, name: str):
    """The changed code of a module of the program's own; the code of other modules comes from Python's cache."""
    file = getattr(loader, "path", "")
    if not frames.is_users(file) or type(loader) is not importlib.machinery.SourceFileLoader:
        return get_code(loader, name)
    tree = trees.parse_script(file)
    if tree is None or not _change(tree, file):
        return get_code(loader, name)
    return compile(tree, file, "exec", dont_inherit=True)
