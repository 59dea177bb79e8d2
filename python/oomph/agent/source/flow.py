"""The loops and functions around a statement, and the statements that follow."""

import ast
from collections.abc import Iterator

from . import trees
from .spans import covers

LOOPS = (ast.For, ast.AsyncFor, ast.While)
WITHS = (ast.With, ast.AsyncWith)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Statements and expressions whose inside is the code of another frame.
SCOPES = (*FUNCTIONS, ast.ClassDef)
_BODIES = ("body", "orelse", "finalbody")


def find_innermost(path: list[ast.AST], kinds: tuple[type, ...]) -> ast.AST | None:
    """The innermost node of these kinds; `None` without one."""
    return next((node for node in reversed(path) if isinstance(node, kinds)), None)


def take_own(path: list[ast.AST]) -> list[ast.AST]:
    """The part of a path within its innermost function or class, which comes first."""
    at = max((index for index, node in enumerate(path) if isinstance(node, SCOPES)), default=0)
    return path[at:]


def walk_own(node: ast.AST, is_whole: bool = False) -> Iterator[ast.AST]:
    """A node and all below, without the bodies of functions and classes within; `is_whole`: with the body of the node itself."""
    waiting = [iter((node,))]
    while waiting:
        child = next(waiting[-1], None)
        if child is None:
            waiting.pop()
            continue
        yield child
        if not isinstance(child, SCOPES) or (is_whole and child is node):
            waiting.append(ast.iter_child_nodes(child))


def split(parent: ast.AST, child: ast.AST) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The statements of the block with `child` that stand before it, and those behind."""
    for name in _BODIES:
        block = getattr(parent, name, None)
        if isinstance(block, list) and child in block:
            at = block.index(child)
            return block[:at], block[at + 1 :]
    return [], []


def list_following(statement: ast.AST, around: list[ast.AST]) -> list[ast.stmt]:
    """The statements behind `statement`, to the end of the innermost loop, function or class in `around`."""
    following: list[ast.stmt] = []
    for node in reversed(around):
        following += split(node, statement)[1]
        if isinstance(node, (*LOOPS, *SCOPES)):
            break
        statement = node
    return following


def has_condition(file: str, line: int) -> bool:
    """True if a condition stands on the line of a file: a statement on the line of its `if`, or an expression with two ways."""
    return any(_is_condition(node, line) for node in trees.walk(file))


def _is_condition(node: ast.AST, line: int) -> bool:
    if isinstance(node, (ast.If, ast.While)):
        return node.lineno == node.body[0].lineno == line
    return isinstance(node, (ast.IfExp, ast.BoolOp)) and covers(node, line)
