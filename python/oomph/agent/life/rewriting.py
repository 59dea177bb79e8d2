"""Changes the loops in the tree of a source: a loop asks `calls` for the items, and passes the counters on.

`for i, x in enumerate(loader):` becomes `for i, x in _oomph_loop(_oomph_enumerate(loader), 3):`, and `while step < 10:` becomes
`while _oomph_while(4) and step < 10:`. A counter of the loop (`step += 1`) is assigned at the begin of each pass. The new nodes have the
positions of the old nodes: tracebacks and recorded stacks name the lines of the file.
"""

import ast
from dataclasses import dataclass

from ..source.flow import SCOPES, walk_own

# The module of the functions for changed sources, and the names in a source.
_MODULE = "_oomph_agent.life.calls"
_LOOP, _WHILE, _ENTER, _BEGIN, _VALUE, _ENUMERATE, _RAN, _NEXT = (
    "_oomph_loop", "_oomph_while", "_oomph_enter", "_oomph_begin", "_oomph_value", "_oomph_enumerate", "_oomph_ran", "_oomph_next",
)  # fmt: skip
_NAMES = {_LOOP: "loop", _WHILE: "goes_on", _ENTER: "enter", _BEGIN: "begin_pass", _VALUE: "value_of", _ENUMERATE: "Enumerate", _RAN: "note_branch", _NEXT: "take_next"}
# Functions inside of a pass: a loop there belongs to a model or to a sample.
_INNER = {"forward", "__getitem__", "__getitems__", "__iter__", "__next__", "__len__", "__init__", "backward", "setup_context", "collate_fn", "collate"}
_YIELDS = (ast.Await, ast.Yield, ast.YieldFrom)
# Decorators whose functions are read by a compiler.
_COMPILED = ("compile", "script", "jit", "trace", "triton", "custom_op", "numba")


@dataclass
class Loop:
    """A changed loop: place, original tree, and the names of the counters."""

    number: int
    file: str
    node: ast.For | ast.While
    counters: list[str]

    @property
    def is_for(self) -> bool:
        """True for a `for`."""
        return isinstance(self.node, ast.For)

    def has_inside(self, other: "Loop") -> bool:
        """True if the other loop stands in this one."""
        return other is not self and other.file == self.file and self.line <= other.line <= (self.node.end_lineno or self.line)

    @property
    def line(self) -> int:
        """The line of the head."""
        return self.node.lineno


# All changed loops, and all noted branches, by number.
LOOPS: list[Loop] = []
BRANCHES: list[tuple[str, ast.stmt]] = []
# The number of a noted branch, by its file and first line.
BRANCH_AT: dict[tuple[str, int], int] = {}


def rewrite(tree: ast.Module, file: str, original: ast.Module) -> bool:
    """Changes the loops of a module in place; `original` is a second tree of the same source. True if a loop was changed."""
    changer = _Changer(file, original)
    changer.change_block(tree.body, original.body, _Function.of_module(tree))
    if changer.count == 0:
        return False
    _change_nexts(tree)
    imported = ast.ImportFrom(module=_MODULE, names=[ast.alias(name=name, asname=own) for own, name in _NAMES.items()], level=0)
    at = _start(tree)
    tree.body.insert(at, _at(imported, tree.body[at]))
    ast.fix_missing_locations(tree)
    return True


def _start(tree: ast.Module) -> int:
    """The index of the first statement behind the docstring and the imports from `__future__`."""
    is_docstring = ast.get_docstring(tree, clean=False) is not None
    futures = [n for n, node in enumerate(tree.body) if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    return max([int(is_docstring), *(n + 1 for n in futures)])


class _Function:
    """The names bound in a function or a module, with the first line."""

    def __init__(self, node: ast.AST, is_module: bool) -> None:
        self.is_module = is_module
        nodes = list(walk_own(node, is_whole=True))
        self.first: dict[str, int] = {}
        for it in nodes:
            if isinstance(it, ast.Name) and isinstance(it.ctx, ast.Store):
                self.first[it.id] = min(it.lineno, self.first.get(it.id, it.lineno))
            elif isinstance(it, (ast.Global, ast.Nonlocal)):
                self.first.update(dict.fromkeys(it.names, 0))
        if not is_module:
            arguments = node.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            self.first.update({it.arg: 0 for it in every if it is not None})

    @classmethod
    def of_module(cls, tree: ast.Module) -> "_Function":
        return cls(tree, is_module=True)

    def is_bound_before(self, name: str, line: int) -> bool:
        """True if the name surely has a value at a loop: a loop that reads an unbound name would end the program."""
        return self.first.get(name, line) < line


class _Changer:
    """Walks two trees of one source, and changes the first."""

    def __init__(self, file: str, original: ast.Module) -> None:
        self.file = file
        self.original = original
        self.count = 0

    def change_block(self, block: list[ast.stmt], original: list[ast.stmt], function: _Function) -> None:
        at = 0
        for old in original:
            node = block[at]
            at += self._change(block, at, node, old, function)

    def _change(self, block: list[ast.stmt], at: int, node: ast.stmt, old: ast.stmt, function: _Function) -> int:
        """Changes a statement; returns the number of statements in the place."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if isinstance(node, ast.FunctionDef) and _runs_passes(node):
                self.change_block(node.body, old.body, _Function(old, is_module=False))
            return 1
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            if isinstance(inner, list) and not isinstance(node, ast.match_case):
                self.change_block(inner, getattr(old, name), function)
        for kind in ("handlers", "cases"):
            for part, old_part in zip(getattr(node, kind, ()), getattr(old, kind, ())):
                self.change_block(part.body, old_part.body, function)
        if isinstance(node, ast.If):
            self._note_branches(node, old)
        if isinstance(node, ast.For) and _may_work(old):
            self._change_for(node, old, function)
        elif isinstance(node, ast.While) and _may_work(old):
            block.insert(at, _at(ast.Expr(_call(_ENTER, self._add(old, _list_counters(old, function)))), node))
            self._change_while(node, old)
            return 2
        return 1

    def _add(self, old: ast.For | ast.While, counters: list[str]) -> int:
        LOOPS.append(Loop(len(LOOPS), self.file, old, counters))
        self.count += 1
        return LOOPS[-1].number

    def _change_for(self, node: ast.For, old: ast.For, function: _Function) -> None:
        number = self._add(old, counters := _list_counters(old, function))
        node.iter = _at(_call(_LOOP, _Enumerates().visit(node.iter), number), node.iter)
        if counters:
            node.body.insert(0, _at(_assign(counters, number), node))

    def _change_while(self, node: ast.While, old: ast.While) -> None:
        loop = LOOPS[-1]
        begin = _call(_WHILE, loop.number, *map(_load, loop.counters))
        new = [ast.NamedExpr(_store(name), _call(_VALUE, loop.number, index)) for index, name in enumerate(loop.counters)]
        tests = [begin, *([ast.List(new, ast.Load())] if new else []), node.test]
        node.test = _at(ast.BoolOp(ast.And(), tests), node)

    def _note_branches(self, node: ast.If, old: ast.If) -> None:
        for block, old_block in ((node.body, old.body), (node.orelse, old.orelse)):
            if old_block and not isinstance(old_block[0], ast.If):
                BRANCH_AT[self.file, old_block[0].lineno] = len(BRANCHES)
                BRANCHES.append((self.file, old_block[0]))
                block.insert(0, _at(ast.Expr(_call(_RAN, len(BRANCHES) - 1)), block[0]))


def _change_nexts(tree: ast.Module) -> None:
    """Has each `next` of a function around passes ask for the item: a `while` may read items so."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "next" and not node.keywords:
            node.func = ast.copy_location(ast.Name(_NEXT, ast.Load()), node.func)
        waiting += [it for it in ast.iter_child_nodes(node) if not isinstance(it, ast.FunctionDef) or _runs_passes(it)]


class _Enumerates(ast.NodeTransformer):
    """Has an `enumerate` in the head of a loop count the passes that were jumped over."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "enumerate":
            node.func = ast.copy_location(ast.Name(_ENUMERATE, ast.Load()), node.func)
        return node


def _runs_passes(node: ast.FunctionDef) -> bool:
    names = {part for it in node.decorator_list for part in ast.unparse(it).replace("(", ".").split(".")}
    return node.name not in _INNER and not any(name in text for text in names for name in _COMPILED)


def _may_work(loop: ast.For | ast.While) -> bool:
    """True if the body calls anything: a model may work there. The passes of a loop with a `yield` belong to the caller's loop."""
    nodes = [it for statement in loop.body for it in walk_own(statement)]
    return any(isinstance(it, ast.Call) for it in nodes) and not any(isinstance(it, _YIELDS) for it in nodes)


def _list_counters(loop: ast.For | ast.While, function: _Function) -> list[str]:
    """The names that the body adds to and does not bind otherwise."""
    added, bound = {}, set()
    for node in (it for statement in loop.body for it in walk_own(statement)):
        name = _find_added(node)
        if name is not None:
            added[name.id] = None
        elif isinstance(node, ast.Assign) and (name := _find_sum(node)) is not None:
            added[name.id] = None
            bound.discard(name.id)
        elif isinstance(node, SCOPES):
            bound.add(getattr(node, "name", ""))
    stores = _count_stores(loop)
    return [name for name in added if stores.get(name) == 1 and name not in bound and function.is_bound_before(name, loop.lineno)]


def _find_added(node: ast.AST) -> ast.Name | None:
    is_addition = isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Add, ast.Sub))
    return node.target if is_addition and isinstance(node.target, ast.Name) else None


def _find_sum(node: ast.Assign) -> ast.Name | None:
    """The name in `n = n + 1`."""
    target, value = node.targets[0], node.value
    is_sum = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and isinstance(target, ast.Name)
    return target if is_sum and isinstance(value.left, ast.Name) and value.left.id == target.id else None


def _count_stores(loop: ast.For | ast.While) -> dict[str, int]:
    """How many places of the loop bind each name; of several additions to one counter each counts."""
    counts: dict[str, int] = {}
    for node in walk_own(loop):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            counts[node.id] = counts.get(node.id, 0) + 1
    return counts


def _assign(counters: list[str], number: int) -> ast.stmt:
    """`a, b = _oomph_begin(3, a, b)`."""
    target = ast.Tuple([_store(name) for name in counters], ast.Store())
    return ast.Assign([target], _call(_BEGIN, number, *map(_load, counters)))


def _call(name: str, *arguments: ast.expr | int) -> ast.Call:
    nodes = [ast.Constant(it) if isinstance(it, int) else it for it in arguments]
    return ast.Call(_load(name), nodes, [])


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _store(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def _at(node: ast.AST, place: ast.AST) -> ast.AST:
    """Sets in a new node, and in new nodes below, the position of the first line of `place`."""
    line, column = place.lineno, place.col_offset
    for it in ast.walk(node):
        if "lineno" in it._attributes and not hasattr(it, "lineno"):
            it.lineno, it.col_offset, it.end_lineno, it.end_col_offset = line, column, line, column
    return node
