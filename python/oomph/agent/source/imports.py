"""The packages that a script imports, found before the script runs."""

import ast
import importlib.machinery
import os
import sys

from ..process import frames
from . import trees


def list_imports(script: str) -> dict[str, tuple[str, ...]]:
    """The modules of installed packages that a script imports anywhere, with the imported names of each."""
    tree = trees.parse_script(script) if script.endswith(".py") else None
    found: dict[str, tuple[str, ...]] = {}
    folder = os.path.dirname(os.path.abspath(script))
    for node in ast.walk(tree) if tree is not None else ():
        for name, attributes in _names_of(node):
            if _is_installed(name) and not _is_beside(name, folder):
                found[name] = found.get(name, ()) + attributes
    return found


def _names_of(node: ast.AST) -> list[tuple[str, tuple[str, ...]]]:
    if isinstance(node, ast.Import):
        return [(alias.name, ()) for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [(node.module, tuple(alias.name for alias in node.names))]
    return []


def _is_beside(name: str, folder: str) -> bool:
    """True if the script's folder, which Python searches first, has a module of that name: a program's own `datasets`, say."""
    spec = importlib.machinery.PathFinder.find_spec(name.partition(".")[0], [folder])
    # A folder without `__init__.py` is only used if no package of the name is further down the path.
    return spec is not None and spec.loader is not None


def _is_installed(name: str) -> bool:
    """True if the module belongs to a package in `site-packages` and not to the program."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names:
        return False
    try:
        spec = importlib.machinery.PathFinder.find_spec(top)
    except (ImportError, ValueError):
        return False
    place = spec and (spec.origin or next(iter(spec.submodule_search_locations or ()), None))
    return bool(place) and frames.is_installed(place)
