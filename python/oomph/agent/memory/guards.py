"""The `try` that catches an out-of-memory error, and the ways out of the `try`, read from the source.

In a program that tries again, a success leaves the loop around the `try`, and an error repeats the `try`. In a program that skips a batch, both
repeat the `try`. The stacks of later requests decide, by these lines (Note [Recoveries] in `crates/diagnose/src/judge/recovery.rs`).
"""

import ast

from .. import records

_LOOPS = (ast.While, ast.For, ast.AsyncFor)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
# The ways out of a statement, by the statement that takes them.
_WAYS = ((ast.Continue, "again"), (ast.Break, "break"), (ast.Return, "leave"))
# The fields of a compound statement that hold statements.
_BODIES = ("body", "orelse", "finalbody")


def describe(taking, body: list[ast.stmt], handler: list[ast.stmt], around: list[ast.AST]) -> dict:
    """The record of a statement that takes an error of `body`; `around`: the statements around it, outermost first."""
    inner = _inside_function(around)
    loop = next((node for node in reversed(inner) if isinstance(node, _LOOPS)), None)
    following = _following(taking, inner)
    return records.guard(
        body_first=body[0].lineno,
        body_last=_last_line(body),
        handler_last=_last_line(handler) if handler else 0,
        loop_first=loop.lineno if loop is not None else 0,
        loop_last=_end(loop) if loop is not None else 0,
        success=_way([*body, *getattr(taking, "orelse", []), *following], loop),
        failure=_way([*handler[-1:], *_list_ends(handler), *following], loop),
    )


def _inside_function(around: list[ast.AST]) -> list[ast.AST]:
    scopes = [at for at, node in enumerate(around) if isinstance(node, _SCOPES)]
    return around[scopes[-1] :] if scopes else around


def _following(taking: ast.AST, around: list[ast.AST]) -> list[ast.stmt]:
    """The statements after `taking`, to the end of the innermost loop or of the function."""
    following: list[ast.stmt] = []
    inner = taking
    for node in reversed(around):
        for name in _BODIES:
            block = getattr(node, name, None)
            if isinstance(block, list) and inner in block:
                following += block[block.index(inner) + 1 :]
        if isinstance(node, (*_LOOPS, *_SCOPES)):
            break
        inner = node
    return following


def _way(statements: list[ast.stmt], loop: ast.AST | None) -> str:
    """`leave` for a return, `break`, `again` for the next pass of the loop, or `next` for the statement behind it: the first that decides."""
    flags: dict[str, object] = {}
    found = _first_way(statements, flags)
    if found is not None:
        return found
    ends = isinstance(loop, ast.While) and _truth(loop.test, flags) is False
    return "break" if ends else "again" if loop is not None else "next"


def _first_way(statements: list[ast.stmt], flags: dict[str, object]) -> str | None:
    """The first way out; `flags`: assigned constants, which decide conditions (`done = True`)."""
    for statement in statements:
        way = next((way for kind, way in _WAYS if isinstance(statement, kind)), None)
        if isinstance(statement, ast.If):
            holds = _truth(statement.test, flags)
            way = _first_way(statement.body if holds else statement.orelse, flags) if holds is not None else None
        elif isinstance(statement, ast.Assign):
            is_known = isinstance(statement.value, ast.Constant)
            flags.update({it.id: statement.value.value if is_known else None for it in statement.targets if isinstance(it, ast.Name)})
        if way is not None:
            return way
    return None


def _truth(test: ast.expr, flags: dict[str, object]) -> bool | None:
    """True or False for a flag and its opposite; `None` if unknown."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _truth(test.operand, flags)
        return None if inner is None else not inner
    value = flags.get(test.id) if isinstance(test, ast.Name) else None
    return value if type(value) is bool else None


def _list_ends(handler: list[ast.stmt]) -> list[ast.stmt]:
    """The last statements of each branch of a handler such as `if "out of memory" in str(error): …; continue`."""
    branches = [branch for statement in handler if isinstance(statement, ast.If) for branch in (statement.body, statement.orelse)]
    return [branch[-1] for branch in branches if branch]


def _last_line(body: list[ast.stmt]) -> int:
    return _end(body[-1])


def _end(node: ast.AST) -> int:
    return node.end_lineno or node.lineno
