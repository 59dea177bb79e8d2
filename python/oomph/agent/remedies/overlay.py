"""Files of the program that are read from other places: configuration files with another value, sources with a mistake mended.

`OOMPH_OVERLAY` is a JSON object `{PATH: OTHER}` of absolute paths. Python's `open` opens the other file in place of the first, for reading.
The first is opened too: its content decides the result, and the notes of the files that a run reads must have it. Sources are compiled from
the other file, under the name of the first.
"""

import ast
import json
import os
from collections.abc import Callable

from .. import wire
from ..hooks import around
from ..source import script, trees


def install() -> None:
    """Stands around `open`, and around Python's reading of sources, where files are to be read from other places."""
    others: dict[str, str] = json.loads(os.environ.get(wire.OVERLAY) or "{}")
    if others:
        around("builtins:open", _layer(others))
    sources = {file for file in others if file.endswith(".py")}
    if sources:
        script.rewrite(lambda _tree, file: os.path.abspath(file) in sources)
        around("importlib.machinery:SourceFileLoader.get_code", _compile_from(sources))


def _layer(others: dict[str, str]) -> Callable:
    def layer(call, file, mode="r", *args, **kwargs):
        other = None if isinstance(file, int) or set(mode) & set("wax+") else others.get(os.path.abspath(os.fsdecode(file)))
        if other is None:
            return call(file, mode, *args, **kwargs)
        os.close(os.open(file, os.O_RDONLY))
        return call(other, mode, *args, **kwargs)

    return layer


def _compile_from(sources: set[str]) -> Callable:
    def layer(get_code, loader, name: str):
        file = getattr(loader, "path", "")
        tree: ast.Module | None = trees.parse_script(file) if os.path.abspath(file) in sources else None
        return get_code(loader, name) if tree is None else compile(tree, file, "exec", dont_inherit=True)

    return layer
