"""Lists the branches of the program's own code that the loop can reach and that did not run (Note [Taken] in `taken`).

Such a branch is open if it may allocate: with a call that is not harmless, by name or hidden in a property, an operator, a subscript, a `with`, an
f-string or an import, or with an assignment of a larger number, or a larger tensor, than the name has now. The statements before the loops of a
running function do not run again, nor do functions that were called before the loop only.
"""

import ast
import dis
import sys
import types
from collections.abc import Iterator
from importlib.machinery import PathFinder
from types import CodeType, FrameType

import torch

from ..process import frames, objects, syntax
from ..process.objects import Budget, Spent
from .called import find_exit, list_behind_yield, list_conditional, list_forwards, list_hidden, list_unseen
from .evaluate import UNKNOWN, Scope
from .harmless import find_definition, is_body_harmless, is_harmless, name_of
from .items import Ahead, Item
from .taken import Taken

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BLOCKS = ("body", "orelse", "finalbody")
# Numbers up to this are no sizes worth the name: flags, counts of retries, ranks.
_SMALL = 16
# The most nodes that a look visits.
_NODES = 500_000

Span = tuple[tuple[int, int], tuple[int, int]]


def correct(ahead: Ahead, taken: Taken, frame: FrameType | None) -> None:
    """Corrects the items of sources by the notes: a call that ran is not ahead, whatever its condition, and a branch that did not run is."""
    ahead.items[:] = [it for it in ahead.items if it.reason != "unrun" or not _has_run(taken, it)]
    try:
        for item in _list_untaken(taken, frame, Budget(_NODES)):
            ahead.add(item)
    except Spent:
        if frame is not None:
            ahead.leave_out(frame)


def add_hidden(ahead: Ahead, frame: FrameType | None) -> None:
    """Adds what sources alone show: hidden calls in the loops of running functions, the ends of `with` statements, and counted calls of autograd."""
    budget, nothing = Budget(_NODES), Taken()
    try:
        for one in frames.list_running(frame):
            if frames.is_users(one.f_code.co_filename):
                code = Code(one.f_code, None, one, nothing, budget)
                for item in (*code.list_exits(), *code.list_hidden_in_loops()):
                    ahead.add(item)
        for unseen in (*list_unseen(set()), *list_forwards()):
            for item in Code(unseen, None, None, nothing, budget).list_counted():
                ahead.add(item)
    except Spent:
        if frame is not None:
            ahead.leave_out(frame)


def _has_run(taken: Taken, item: Item) -> bool:
    """True if all calls of a line ran."""
    codes = [(code, seen) for code, seen in taken.seen.items() if code.co_filename == item.file]
    calls = [it.offset in seen for code, seen in codes for it in dis.get_instructions(code) if _is_call_at(it, item.line)]
    return bool(calls) and all(calls)


def _is_call_at(instruction: dis.Instruction, line: int) -> bool:
    return instruction.positions.lineno == line and instruction.opname.startswith("CALL")


def _list_untaken(taken: Taken, frame: FrameType | None, budget: Budget) -> list[Item]:
    """The open parts, each with its line. Raises `Spent`."""
    running = {it.f_code: it for it in frames.list_running(frame) if frames.is_users(it.f_code.co_filename)}
    items: list[Item] = []
    for code, seen in list(taken.seen.items()):
        if code in taken.entered or code in running:
            items.extend(Code(code, seen, running.get(code), taken, budget).list_items())
    for code in list_unseen(set(taken.seen)):
        items.extend(Code(code, None, None, taken, budget).list_items())
    for code, one in running.items():
        items.extend(Code(code, taken.seen.get(code, set()), one, taken, budget).list_exits())
    return items


class Code:
    """A code object, with the instructions that ran."""

    def __init__(self, code: CodeType, seen: set[int] | None, frame: FrameType | None, taken: Taken, budget: Budget) -> None:
        """`seen`: the offsets that ran; `None` for code of another thread, whose conditions are unknown."""
        self.file = code.co_filename
        self.budget = budget
        # A function that was called before the loop only goes on in its loops, or behind the running statement.
        self.frame = frame if code not in taken.entered else None
        self.node = _find_node(code)
        self.scope = _scope_of(code, frame, budget)
        self.all: list[Span] = []
        self.ran: list[Span] = []
        for instruction in dis.get_instructions(code):
            line, last, start, end = instruction.positions
            if None not in (line, last, start, end):
                span = (line, start), (last, end)
                self.all.append(span)
                if seen is None or instruction.offset in seen:
                    self.ran.append(span)
        if seen is None and self.node is not None:
            unsure = [part for node in ast.walk(self.node) for part in list_conditional(node)]
            self.ran = [span for span in self.ran if not any(_covers(part, span) for part in unsure)]

    def list_items(self) -> Iterator[Item]:
        if self.node is None:
            return
        body = self.node.body if isinstance(self.node.body, list) else [self.node.body]
        for part in self._list_open(body):
            if self._comes(part):
                yield from self._judge(part)

    def list_exits(self) -> Iterator[Item]:
        """The items of the ends of `with` statements that are entered."""
        path = syntax.find_path(self.node, self.frame.f_lineno) if self.node is not None and self.frame is not None else []
        for node in path:
            for item in node.items if isinstance(node, (ast.With, ast.AsyncWith)) else ():
                function = find_exit(self.scope, item.context_expr)
                if function is not None:
                    yield from self._judge_exit(function)

    def list_hidden_in_loops(self) -> Iterator[Item]:
        """The items of later and of conditional parts of the running loops that run code without a call in sight."""
        path = syntax.find_path(self.node, self.frame.f_lineno) if self.node is not None and self.frame is not None else []
        for loop in (node for node in path if isinstance(node, _LOOPS)):
            later = [node for node in ast.walk(loop) if isinstance(node, ast.stmt) and node.lineno > self.frame.f_lineno]
            for part in (*later, *(part for node in ast.walk(loop) for part in list_conditional(node))):
                for node in _walk_own(part):
                    name = self._name_of_hidden(node) if not isinstance(node, ast.Call) or is_harmless(node, self.scope) else None
                    if name is not None:
                        yield Item("unrun", name, self.file, node.lineno)

    def list_counted(self) -> Iterator[Item]:
        """The items of parts under a condition on a counter of the function."""
        counters = {ast.unparse(it.target) for it in ast.walk(self.node) if isinstance(it, ast.AugAssign)} if self.node is not None else set()
        for node in ast.walk(self.node) if counters else ():
            if isinstance(node, ast.If) and counters & {ast.unparse(it) for it in ast.walk(node.test) if isinstance(it, ast.expr)}:
                for part in node.body:
                    yield from self._judge(part)

    def _judge_exit(self, function: types.FunctionType) -> Iterator[Item]:
        definition = find_definition(function)
        if definition is None:
            return
        scope = self.scope.of_call(function, {})
        for statement in list_behind_yield(definition):
            for node in _walk_own(statement):
                if isinstance(node, ast.Call) and not is_harmless(node, scope):
                    yield Item("unrun", name_of(node), function.__code__.co_filename, node.lineno)

    def _comes(self, part: ast.AST) -> bool:
        """True if the program may still reach a part."""
        if self.frame is None:
            return True
        path = syntax.find_path(self.node, self.frame.f_lineno)
        loops = [node for node in path if isinstance(node, _LOOPS)]
        is_later = part.lineno > self.frame.f_lineno
        return is_later or any(part in ast.walk(loop) for loop in loops)

    def _list_open(self, block: list[ast.AST]) -> Iterator[ast.AST]:
        """The outermost parts that did not run."""
        for node in block:
            self.budget.spend()
            if isinstance(node, _SCOPES) and not isinstance(node, ast.Lambda):
                continue
            if not self._has(node, self.all):
                # A `pass`, a constant or a block has no instruction.
                yield from self._list_open(list(_children(node)))
            elif self._has(node, self.ran):
                yield from self._list_open(list(_children(node)))
            else:
                yield node

    def has_run(self, node: ast.AST) -> bool:
        """True if an instruction of a node ran."""
        return self._has(node, self.ran)

    def _has(self, node: ast.AST, spans: list[Span]) -> bool:
        if not hasattr(node, "lineno"):
            return False
        return any(_covers(node, span) for span in spans)

    def _judge(self, part: ast.AST) -> Iterator[Item]:
        """The item of a branch that may allocate."""
        for node in _walk_own(part):
            self.budget.spend()
            found = self._name_of_hidden(node)
            if found is not None:
                yield Item("unrun", found, self.file, node.lineno)
                return
        larger = self._find_larger(part)
        if larger is not None:
            yield Item("larger", larger, self.file, part.lineno)

    def _name_of_hidden(self, node: ast.AST) -> str | None:
        """The name of the code that a node runs, unless it takes no memory."""
        if isinstance(node, ast.Call):
            hidden = (self._unless_harmless(it, it.__name__) for it in list_hidden(node, self.scope))
            return next((it for it in hidden if it), None) if is_harmless(node, self.scope) else name_of(node)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return _name_of_import(node)
        if isinstance(node, ast.Attribute):
            found = objects.find_in_class(self.scope.evaluate(node.value), node.attr)
            return self._unless_harmless(found.fget, node.attr) if type(found) is property else None
        for owner, method in _list_methods(node):
            value = self.scope.evaluate(owner)
            function = None if value is UNKNOWN else objects.find_in_class(value, method)
            if type(function) is types.FunctionType and frames.is_users(function.__code__.co_filename):
                return self._unless_harmless(function, method)
        return None

    def _unless_harmless(self, function: object, name: str) -> str | None:
        if type(function) is not types.FunctionType or is_body_harmless(function, function, self.scope, 0):
            return None
        return name

    def _find_larger(self, part: ast.AST) -> str | None:
        """The text of a number or tensor of the part that is larger than the present one of the same name."""
        target, value = _assignment(part, self.node)
        if target is None:
            return None
        now, then = _measure(self.scope.evaluate(target)), _measure(self.scope.evaluate(value))
        return ast.unparse(target) if then is not None and then > max(_SMALL, now or 0) else None


def _covers(node: ast.AST, span: Span) -> bool:
    return (node.lineno, node.col_offset) <= span[0] and span[1] <= (node.end_lineno, node.end_col_offset)


def _measure(value: object) -> int | None:
    """A whole number, the elements of a tensor, or the largest of several; `None` for anything else."""
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


def _list_methods(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """The operands of a node, with the methods that Python calls."""
    if isinstance(node, ast.Subscript):
        yield node.value, "__getitem__" if isinstance(node.ctx, ast.Load) else "__setitem__"
    elif isinstance(node, ast.BinOp):
        yield node.left, _OPERATORS.get(type(node.op), "__add__")
        yield node.right, _OPERATORS.get(type(node.op), "__add__").replace("__", "__r", 1)
    elif isinstance(node, ast.FormattedValue):
        yield node.value, "__format__"
        yield node.value, "__str__"
    elif isinstance(node, ast.withitem):
        yield node.context_expr, "__enter__"
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield node.iter, "__iter__"
    elif isinstance(node, ast.Compare):
        yield node.left, "__eq__"


_OPERATORS = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.MatMult: "__matmul__",
    ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__",
    ast.Pow: "__pow__",
    ast.LShift: "__lshift__",
    ast.RShift: "__rshift__",
    ast.BitOr: "__or__",
    ast.BitAnd: "__and__",
}


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


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node with a place in the source."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.expr, ast.stmt, ast.ExceptHandler, ast.match_case, ast.withitem, ast.keyword, ast.comprehension)):
            yield child


def _walk_own(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below, without the bodies of functions within."""
    yield node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from _walk_own(child)


def _find_node(code: CodeType) -> ast.AST | None:
    """The parsed definition of a code object; the module for that of a file."""
    tree = syntax.parse(code.co_filename)
    if tree is None or code.co_name == "<module>":
        return tree
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            if min([node.lineno, *(it.lineno for it in node.decorator_list)]) == code.co_firstlineno:
                return node
        if isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
            return node
    return None


def _scope_of(code: CodeType, frame: FrameType | None, budget: Budget) -> Scope:
    """The variables of a running function; else the names of its module."""
    if frame is not None:
        return Scope.of_frame(frame, budget)
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    module = next((it for it in list(sys.modules.values()) if objects.list_own(it).get("__file__") == code.co_filename), None)
    namespace = dict(objects.list_own(module)) if module is not None else {}
    scope = Scope(lambda _name: UNKNOWN, namespace, budget)
    for name in own:
        scope.set(name, UNKNOWN)
    return scope
