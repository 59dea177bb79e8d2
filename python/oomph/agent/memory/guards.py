"""The `try` that catches an out-of-memory error, and the ways out of the `try`, read from the source.

In a program that tries again, a success leaves the loop around the `try`, and an error repeats the `try`. In a program that skips a batch, both
repeat the `try`. The stacks of later requests decide, by these lines (Note [Recoveries] in `crates/diagnose/src/judge/recovery.rs`).
"""

import ast

from .. import records
from ..source.flow import LOOPS, find_innermost, list_following, take_own
from ..source.scope import UNKNOWN, Scope, truth

# The ways out of a statement, by the statement that takes them.
_WAYS = ((ast.Continue, "again"), (ast.Break, "break"), (ast.Return, "leave"))


def describe(taking, body: list[ast.stmt], handler: list[ast.stmt], around: list[ast.AST]) -> dict:
    """The record of a statement that takes an error of `body`; `around`: the statements around it, outermost first."""
    loop = find_innermost(take_own(around), LOOPS)
    following = list_following(taking, around)
    return records.guard(
        body_first=body[0].lineno,
        body_last=_last_line(body),
        handler_last=_last_line(handler) if handler else 0,
        loop_first=loop.lineno if loop is not None else 0,
        loop_last=_end(loop) if loop is not None else 0,
        success=_way([*body, *getattr(taking, "orelse", []), *following], loop),
        failure=_way([*handler[-1:], *_list_ends(handler), *following], loop),
    )


def _way(statements: list[ast.stmt], loop: ast.AST | None) -> str:
    """`leave` for a return, `break`, `again` for the next pass of the loop, or `next` for the statement behind: the first that decides."""
    # Assigned flags decide conditions (`done = True`); the rest is unknown.
    scope = Scope.of_module({})
    found = _first_way(statements, scope)
    if found is not None:
        return found
    ends = isinstance(loop, ast.While) and truth(scope.evaluate(loop.test)) is False
    return "break" if ends else "again" if loop is not None else "next"


def _first_way(statements: list[ast.stmt], scope: Scope) -> str | None:
    """The first way out of a block."""
    for statement in statements:
        way = next((way for kind, way in _WAYS if isinstance(statement, kind)), None)
        if isinstance(statement, ast.If):
            holds = truth(scope.evaluate(statement.test))
            way = _first_way(statement.body if holds else statement.orelse, scope) if holds is not None else None
        elif isinstance(statement, ast.Assign):
            value = scope.evaluate(statement.value)
            for target in (it for it in statement.targets if isinstance(it, ast.Name)):
                # A number may change in other statements.
                scope.set(target.id, value if type(value) is bool else UNKNOWN)
        if way is not None:
            return way
    return None


def _list_ends(handler: list[ast.stmt]) -> list[ast.stmt]:
    """The last statements of each branch of a handler such as `if "out of memory" in str(error): …; continue`."""
    branches = [branch for statement in handler if isinstance(statement, ast.If) for branch in (statement.body, statement.orelse)]
    return [branch[-1] for branch in branches if branch]


def _last_line(body: list[ast.stmt]) -> int:
    return _end(body[-1])


def _end(node: ast.AST) -> int:
    return node.end_lineno or node.lineno
