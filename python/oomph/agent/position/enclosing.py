"""The loops in which the program runs out of memory."""

import ast
from collections.abc import Iterator
from types import FrameType

from .. import records
from ..process import frames
from ..process.own_files import list_own_files
from ..source import spans, trees
from ..source.flow import LOOPS, take_own
from ..source.names import name_of_call

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# The code names of comprehensions with own frames: all kinds before Python 3.12, generators in all versions.
_OWN_FRAMES = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
# The loops of a file that are listed when the program has ended.
_MOST_LOOPS = 1_000
# Built-in functions with a callback for each element.
_CALLERS = ("map", "filter")


def list_loops(frame: FrameType | None) -> Iterator[dict]:
    """The records of the loops around the lines of `frame` and its callers, outermost first, without repeats."""
    own, seen = [it for it in frames.list_running(frame) if frames.is_users(it.f_code.co_filename)], set()
    for depth, caller in enumerate(reversed(own)):
        for node in _list_around(caller):
            loop = _describe(caller.f_code.co_filename, node, depth)
            # A comprehension with an own frame shows up in two frames.
            place = loop["file"], loop["line"], loop["last_line"]
            if place not in seen:
                seen.add(place)
                yield loop


def list_all_loops() -> Iterator[dict]:
    """The records of all loops of the program's own modules, for a program that has ended: an outer loop before the inner ones."""
    for file in list_own_files():
        found = [node for node in trees.walk(file) if isinstance(node, (*LOOPS, *_COMPREHENSIONS))]
        for node in sorted(found, key=lambda node: (node.lineno, node.col_offset))[:_MOST_LOOPS]:
            yield _describe(file, node, depth=0)


def _describe(file: str, node: ast.AST, depth: int) -> dict:
    """The record of a loop, without its `else`."""
    last = node.body[-1] if isinstance(node, LOOPS) else node
    return records.loop(depth=depth, file=file, line=node.lineno, last_line=last.end_lineno or node.lineno)


def _list_around(frame: FrameType) -> list[ast.AST]:
    """The loops around the line of a frame, in its own function."""
    line, path = frame.f_lineno, take_own(spans.find_running(frame))
    # The head counts, because a generator runs there; the `else` does not.
    loops = [node for node in path if isinstance(node, LOOPS) and line <= node.body[-1].end_lineno]
    inner = path[-1] if path else None
    heads = [getattr(inner, name, None) for name in ("iter", "test", "items")] if hasattr(inner, "body") else [inner]
    nodes = (node for head in heads if isinstance(head, ast.AST) for node in ast.walk(head))
    return loops + [node for node in nodes if _repeats(node, frame)]


def _repeats(node: ast.AST, frame: FrameType) -> bool:
    """True if the expression runs the frame's code for each element."""
    if isinstance(node, _COMPREHENSIONS):
        return spans.covers(node, frame.f_lineno) and (frame.f_code.co_name in _OWN_FRAMES or _is_inside(frame, node))
    # Another statement may read the elements, and so call the function.
    is_caller = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and name_of_call(node) in _CALLERS
    return is_caller and spans.covers(node, frame.f_lineno)


def _is_inside(frame: FrameType, node: ast.AST) -> bool:
    """True if the running instruction is inside the expression; False before Python 3.11, without positions of instructions."""
    running = spans.find_instruction(frame)
    return running is not None and spans.is_within(running, spans.span_of(node))
