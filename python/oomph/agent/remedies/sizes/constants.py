"""Constants of the main script: numbers bound to a name of a size."""

import ast
import dataclasses
from collections.abc import Callable, Iterable

from ...source import script
from . import Scaling, names

# Calls that make a record of settings: their keywords count as names.
_RECORDS = {"dict", "Namespace", "SimpleNamespace", "EasyDict", "Box", "Munch", "DictConfig"}
# Classes with finders of their own: the loader itself, and the arguments of Hugging Face's Trainer.
_OTHERS = ("Loader", "BatchSampler", "TrainingArguments")


@dataclasses.dataclass(frozen=True)
class Constant:
    """A number with a name."""

    name: str
    node: ast.Constant
    # Its likelihood to decide, by its place in the script: 0 for module level.
    place: int


def install(scaling: Scaling) -> None:
    """Looks for constants when the script is compiled."""
    script.rewrite(lambda tree, file: transform(scaling, tree, file))


def transform(scaling: Scaling, tree: ast.Module, file: str) -> bool:
    """Changes the matching constants in place; True if one was changed."""
    found = [one for one in constants(tree) if scaling.is_named(one.name) or scaling.rank(one.name) is not None]
    if not found:
        return False
    first = min(found, key=lambda one: (not scaling.is_named(one.name), scaling.rank(one.name) or 0, one.place))
    is_decided = scaling.arg is None and has_option(tree, scaling.rank)
    changed = False
    for one in found:
        is_meant = names.plain(one.name) == names.plain(first.name) and one.node.value == first.node.value
        size = one.node.value
        is_training = is_meant and not is_decided
        variable = one.name if one.place == 0 and _stores(tree, one.name) == 1 else None
        at = (file, one.node.lineno)
        one.node.value = scaling.meet("constant", one.name, size, at=at, is_training=is_training, variable=variable)
        changed = changed or one.node.value != size
    return changed


def _stores(tree: ast.Module, name: str) -> int:
    """The number of times that the script itself binds a variable."""
    return sum(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) for node in ast.walk(tree))


def has_option(tree: ast.Module, rank: Callable[[str], int | None]) -> bool:
    """True if the script has an option or a library's argument with a name of the size: that one then decides."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("-"):
            if " " not in node.value and rank(node.value) is not None:
                return True
    return False


def constants(tree: ast.Module) -> list[Constant]:
    """Every number in the script that has a name."""
    found: list[Constant] = []
    _look(tree, 0, found)
    return found


def _look(node: ast.AST, depth: int, found: list[Constant]) -> None:
    found.extend(Constant(name, value, depth + extra) for name, value, extra in _bound(node) if _is_size(value))
    inner = depth + 1 if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)) else depth
    for child in ast.iter_child_nodes(node):
        _look(child, inner, found)


def _is_size(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value > 0


def _bound(node: ast.AST) -> Iterable[tuple[str, ast.AST | None, int]]:
    """The names that a node binds, their values, and how much less likely than an assignment each is."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _assigned(target, node.value)
    elif isinstance(node, ast.AnnAssign):
        yield from _assigned(node.target, node.value)
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value, 1
    elif isinstance(node, ast.Call):
        yield from ((word.arg, word.value, 1) for word in node.keywords if word.arg and _takes_settings(node.func))
    elif isinstance(node, ast.arguments):
        yield from ((name, value, 2) for name, value in _defaults(node))


def _assigned(target: ast.AST, value: ast.AST | None) -> Iterable[tuple[str, ast.AST | None, int]]:
    if isinstance(target, ast.Name):
        yield target.id, value, 0
    elif isinstance(target, ast.Attribute):
        yield target.attr, value, 1
    elif isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
        yield target.slice.value, value, 1
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, its in zip(target.elts, value.elts, strict=True):
            yield from _assigned(one, its)


def _takes_settings(function: ast.AST) -> bool:
    """True if a call's keywords are settings: the program's own functions and classes, and records. Methods have batches of their own."""
    if isinstance(function, ast.Attribute):
        return function.attr in _RECORDS
    return isinstance(function, ast.Name) and not function.id.endswith(_OTHERS) and names.words(function.id).isdisjoint(names.EVALUATION)


def _defaults(arguments: ast.arguments) -> Iterable[tuple[str, ast.AST | None]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    last = positional[len(positional) - len(arguments.defaults) :]
    for argument, value in (*zip(last, arguments.defaults, strict=True), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)):
        yield argument.arg, value
