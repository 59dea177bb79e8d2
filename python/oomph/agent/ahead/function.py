"""The calls, hidden functions and larger numbers in a part of a function of the program's own."""

import ast
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from types import CodeType, FrameType

import torch

from ..process import frames, objects
from ..process.objects import Budget
from ..source import spans, trees
from ..source.flow import walk_own
from ..source.functions import function_of, list_methods
from ..source.scope import UNKNOWN, Scope
from .called import list_hidden
from .harmless import is_body_harmless, is_harmless, name_of
from .items import Item
from .samples import LoaderScope

# Numbers up to this are no sizes worth the name: flags, counts of retries, ranks.
_SMALL = 16
# Built-in functions that run any text.
_RUNNING = ("exec", "eval")


class Function:
    """A function of the program's own, with its variables as far as they are known."""

    def __init__(self, file: str, node: ast.AST | None, scope: Scope, frame: FrameType | None = None) -> None:
        self.file = file
        # The definition; `None` without a source.
        self.node = node
        self.scope = scope
        self.budget = scope.budget
        # The running call, if any.
        self.frame = frame

    @classmethod
    def of_code(cls, code: CodeType, frame: FrameType | None, budget: Budget) -> "Function":
        """The function of a code object."""
        own = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
        scope = LoaderScope.of_frame(frame, budget) if frame is not None else _scope_of(code.co_filename, own, budget)
        node = trees.parse(code.co_filename) if code.co_name == "<module>" else trees.find_definition(code)
        return cls(code.co_filename, node, scope, frame)

    @classmethod
    def of_module(cls, file: str, budget: Budget) -> "Function":
        """The statements of a file, with the names of its module."""
        return cls(file, trees.parse(file), _scope_of(file, (), budget))

    def list_around(self) -> list[ast.AST]:
        """The statements around the running line, outermost first; empty without a running call, or without a source."""
        return spans.find_path(self.node, self.frame.f_lineno) if self.node is not None and self.frame is not None else []

    def judge(self, part: ast.AST) -> Iterator[Item]:
        """The item of a part that may allocate."""
        for node in walk_own(part):
            self.budget.spend()
            found = self.name_of_call(node) or self.name_of_hidden(node)
            if found is not None:
                yield Item("unrun", found, self.file, node.lineno)
                return
        larger = self._find_larger(part)
        if larger is not None:
            yield Item("larger", larger, self.file, part.lineno)

    def name_of_call(self, node: ast.AST) -> str | None:
        """The name of a call that may take memory."""
        return name_of(node) if isinstance(node, ast.Call) and not is_harmless(node, self.scope) else None

    def name_of_hidden(self, node: ast.AST) -> str | None:
        """The name of the program's own code that a node runs beside its call, unless that code takes no memory."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return _name_of_import(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _RUNNING:
            return node.func.id
        return next((found for function, name in self._list_run(node) if (found := self._unless_harmless(function, name))), None)

    def _list_run(self, node: ast.AST) -> Iterator[tuple[object, str]]:
        """The functions that a node runs, with their names."""
        if isinstance(node, ast.Call):
            yield from ((function, function.__name__) for function in list_hidden(node, self.scope))
        elif isinstance(node, ast.Attribute):
            found = objects.find_in_class(self.scope.evaluate(node.value), node.attr)
            getter = found.fget if type(found) is property else objects.find_in_class(found, "__get__")
            yield getter, node.attr
        for owner, method, _ in list_methods(node):
            value = self.scope.evaluate(owner)
            if value is not UNKNOWN:
                yield objects.find_in_class(value, method), method

    def _unless_harmless(self, function: object, name: str) -> str | None:
        own = function_of(function)
        return name if own is not None and not is_body_harmless(own, own, self.scope, 0) else None

    def _find_larger(self, part: ast.AST) -> str | None:
        """The text of a number or tensor of the part that is larger than the present one of the same name."""
        target, value = _assignment(part, self.node)
        if target is None:
            return None
        now, then = _measure(self.scope.evaluate(target)), _measure(self.scope.evaluate(value))
        return ast.unparse(target) if then is not None and then > max(_SMALL, now or 0) else None


def _measure(value: object) -> int | None:
    """A whole number, the elements of a tensor, or the largest of several."""
    if type(value) is int:
        return value
    if objects.is_a(value, torch.Tensor):
        return value.numel()
    if type(value) in (tuple, list):
        return max((it for it in map(_measure, value[:64]) if it is not None), default=None)
    return None


def _assignment(part: ast.AST, scope: ast.AST) -> tuple[ast.expr | None, ast.expr]:
    """The target and the value, if the part is an assignment, or the value of one."""
    if isinstance(part, ast.Assign) and isinstance(part.targets[0], (ast.Name, ast.Attribute)):
        return part.targets[0], part.value
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.IfExp) and part in (node.value.body, node.value.orelse):
            return node.targets[0], part
    return None, part


def _name_of_import(node: ast.Import | ast.ImportFrom) -> str | None:
    """The name of a module of the program's own that is not imported yet."""
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    for name in names:
        top = name.partition(".")[0]
        if name and name not in sys.modules and top not in sys.stdlib_module_names and _is_own_module(top):
            return f"import {name}"
    return None


def _is_own_module(name: str) -> bool:
    found = PathFinder.find_spec(name)
    return found is not None and frames.is_users(found.origin or "")


# The names of modules by their files, and the number of modules at the time.
_names: dict[str, str] = {}
_counted = 0


def _find_module(file: str) -> object:
    """The module of a file; `None` without a module. A program has thousands of modules: they are listed again only after an import."""
    global _counted
    if _counted != len(sys.modules):
        found = reversed(list(sys.modules.items()))
        _names.clear()
        _names.update((path, name) for name, it in found if type(path := objects.list_own(it).get("__file__")) is str)
        _counted = len(sys.modules)
    return sys.modules.get(_names.get(file, ""))


def _scope_of(file: str, own: tuple[str, ...], budget: Budget) -> Scope:
    """The names of a module, without the variables of a function."""
    module = _find_module(file)
    scope = LoaderScope.of_module(dict(objects.list_own(module)) if module is not None else {}, budget)
    for name in own:
        scope.set(name, UNKNOWN)
    return scope
