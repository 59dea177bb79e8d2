"""The loops in which the program runs out of memory."""

import ast
from collections.abc import Iterator
from types import FrameType

from .. import records
from ..process import frames, syntax
from ..process.own_files import list_own_files

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# The code names of comprehensions with own frames: all kinds before Python 3.12, generators in all versions.
_OWN_FRAMES = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
# The loops of a file that are listed when the program has ended.
_MOST_LOOPS = 1_000
# Built-in functions with a callback for each element.
_CALLERS = ("map", "filter")


def list_loops(frame: FrameType | None) -> Iterator[dict]:
    """The records of the loops around the lines of `frame` and its callers, outermost first, without repeats."""
    own, seen = [], set()
    while frame is not None:
        if frames.is_users(frame.f_code.co_filename):
            own.append(frame)
        frame = frame.f_back
    for depth, caller in enumerate(reversed(own)):
        file = caller.f_code.co_filename
        tree = syntax.parse(file, caller.f_globals)
        for node in _list_around(tree, caller) if tree is not None else ():
            last = (node.body[-1] if isinstance(node, _LOOPS) else node).end_lineno or node.lineno
            # A comprehension with an own frame shows up in two frames.
            if (file, node.lineno, last) not in seen:
                seen.add((file, node.lineno, last))
                yield records.loop(depth=depth, file=file, line=node.lineno, last_line=last)


def list_all_loops() -> Iterator[dict]:
    """The records of all loops of the program's own modules, for a program that has ended: an outer loop before the inner ones."""
    for file in list_own_files():
        tree = syntax.parse(file)
        for node in _walk_loops(tree) if tree is not None else ():
            last = (node.body[-1] if isinstance(node, _LOOPS) else node).end_lineno or node.lineno
            yield records.loop(depth=0, file=file, line=node.lineno, last_line=last)


def _walk_loops(tree: ast.Module) -> list[ast.AST]:
    found = [node for node in ast.walk(tree) if isinstance(node, (*_LOOPS, *_COMPREHENSIONS))]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))[:_MOST_LOOPS]


def _list_around(tree: ast.Module, frame: FrameType) -> list[ast.AST]:
    """The loops around the line of a frame, in its own function."""
    line = frame.f_lineno
    path = syntax.find_path(tree, line)
    scopes = [index for index, node in enumerate(path) if isinstance(node, _SCOPES)]
    path = path[scopes[-1] + 1 :] if scopes else path
    # The head counts, because a generator runs there; the `else` does not.
    loops = [node for node in path if isinstance(node, _LOOPS) and line <= node.body[-1].end_lineno]
    inner = path[-1] if path else None
    heads = [getattr(inner, name, None) for name in ("iter", "test", "items")] if hasattr(inner, "body") else [inner]
    nodes = (node for head in heads if isinstance(head, ast.AST) for node in ast.walk(head))
    return loops + [node for node in nodes if _repeats(node, frame)]


def _repeats(node: ast.AST, frame: FrameType) -> bool:
    """True if the expression runs the frame's code for each element."""
    if isinstance(node, _COMPREHENSIONS):
        return syntax.covers(node, frame.f_lineno) and (frame.f_code.co_name in _OWN_FRAMES or _is_within(node, frame))
    is_caller = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLERS
    # Another statement may read the elements, and so call the function.
    return is_caller and syntax.covers(node, frame.f_lineno)


def _is_within(node: ast.AST, frame: FrameType) -> bool:
    """True if the running instruction is inside the expression; False before Python 3.11, without positions of instructions."""
    position = syntax.find_position(frame)
    if position is None:
        return False
    first, start, last, end = position
    return (node.lineno, node.col_offset) <= (first, start) and (last, end) <= (node.end_lineno, node.end_col_offset)
