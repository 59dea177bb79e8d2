"""The folders of the agent are floors: a folder imports only folders above it in the table that `python/oomph/agent/__init__.py` opens with.

`session` alone, and `__init__.py` itself, put the folders together, so nothing imports these two. Files beside the folders are for all.
"""

import ast
import pathlib
import re
from collections.abc import Iterator

AGENT = pathlib.Path("python/oomph/agent")
ROW = re.compile(r"^`(\w+)`  ", re.MULTILINE)


def find_upward(root: pathlib.Path) -> Iterator[str]:
    """Imports of a folder that stands below in the table."""
    folder = root / AGENT
    floors = ROW.findall(ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or "")
    there = sorted(path.name for path in folder.iterdir() if (path / "__init__.py").exists())
    if sorted(floors) != there:
        yield f"{AGENT}/__init__.py: the table has {sorted(set(floors) ^ set(there))} more or less than there are folders"
        return
    for path in sorted(folder.rglob("*.py")):
        own = path.relative_to(folder).parts
        for line, target in _list_imported(path, own):
            is_above = own[0] in floors and target in floors and floors.index(target) <= floors.index(own[0])
            if len(own) > 1 and (target == "session" or (target in floors and not is_above)):
                yield f"{path.relative_to(root)}:{line}: {own[0]} imports {target}, which is not above it in the table of agent/__init__.py"


def _list_imported(path: pathlib.Path, own: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """The folders and files directly in the agent that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        base = own[: len(own) - node.level]
        names = [*base, *(node.module or "").split(".")] if node.module else list(base)
        if names:
            yield node.lineno, names[0]
        else:
            yield from ((node.lineno, alias.name) for alias in node.names)
