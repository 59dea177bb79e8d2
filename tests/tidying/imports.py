"""Imports between the modules of a Python package: statements, and names in strings, whole or with a part that is computed.

`importlib.import_module(f".{part}", __package__)` counts as an import of every module of the package, and
`sys.modules.get(f"{__package__}.trackers")` as one of `trackers`.
"""

import ast
import pathlib
import re
from collections.abc import Iterator

# Functions whose first argument names a module.
BY_NAME = {"import_module", "__import__", "after_import", "find_spec"}


def python_edges(root: pathlib.Path) -> dict[tuple, set[tuple]]:
    """The modules below a folder, each with its imports; imports inside functions count."""
    files = {path.relative_to(root).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__"): path for path in sorted(root.rglob("*.py"))}
    edges = {}
    for name, path in files.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        edges[name] = find_imports(path.read_text(encoding="utf-8"), name, package, set(files)) - {name}
    return {tuple(name.split(".")): {tuple(goal.split(".")) for goal in goals} for name, goals in edges.items()}


def find_imports(text: str, name: str, package: str, modules: set[str]) -> set[str]:
    """The imports of a source among `modules`."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        found.update(modules.intersection(list_stated(node, package)))
        pattern = find_pattern(node, name, package)
        if pattern is not None:
            found.update(module for module in modules if pattern.fullmatch(module))
    return found


def list_stated(node: ast.AST, package: str) -> Iterator[str]:
    """The possible modules of a statement."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
        stem = f"{base}.{node.module}" if node.level and node.module else base if node.level else node.module or ""
        for alias in node.names:
            yield f"{stem}.{alias.name}"
        if node.module:
            yield stem


def find_pattern(node: ast.AST, name: str, package: str) -> re.Pattern | None:
    """A pattern of the modules in a string of an expression; `None` without such a string."""
    value = find_name(node)
    text = _pattern_of(value, name, package) if value is not None else None
    if text is None:
        return None
    plain = text.replace("\\.", ".")
    dots = len(plain) - len(plain.lstrip("."))
    if dots:
        base = package.rsplit(".", dots - 1)[0] if dots > 1 else package
        text = f"{re.escape(base)}\\.{text[2 * dots:]}"
    return re.compile(text)


def find_name(node: ast.AST) -> ast.expr | None:
    """The name of a module in a call or in `sys.modules[…]`."""
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "sys.modules":
        return node.slice
    if not isinstance(node, ast.Call) or not node.args:
        return None
    called = ast.unparse(node.func)
    is_named = called.rpartition(".")[2] in BY_NAME or called == "sys.modules.get"
    return node.args[0] if is_named else None


def _pattern_of(value: ast.expr, name: str, package: str) -> str | None:
    """A pattern for a string: each computed part stands for one name."""
    if isinstance(value, ast.Constant):
        return re.escape(value.value) if isinstance(value.value, str) else None
    if not isinstance(value, ast.JoinedStr):
        return None
    known = {"__package__": re.escape(package), "__name__": re.escape(name)}
    parts = [_pattern_of(part, name, package) if isinstance(part, ast.Constant) else known.get(ast.unparse(part.value), r"\w+") for part in value.values]
    return "".join(part or "" for part in parts)
