"""The user's own lines, and the position of the program."""

import importlib.machinery
import os
import re
import sys
import sysconfig
from collections.abc import Iterator
from types import FrameType, TracebackType

# The folder of the agent.
AGENT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PLACES = ("stdlib", "platstdlib", "purelib", "platlib", "scripts")
_LIBRARIES = tuple({os.path.join(path, "") for place in _PLACES if (path := sysconfig.get_path(place))})
# Files of packages, of Python, of PyTorch, and of this agent, by their paths; the same rules as crates/trace/src/source_file.rs.
_INSTALLED = re.compile(
    r"/(site|dist)-packages/|/lib(64)?/python3(\.\d*)?t?/"
    r"|/torch/(_(dynamo|functorch|inductor)/|_(compile|ops|tensor)\.py|amp/(autocast_mode|grad_scaler)\.py|autograd/(function|grad_mode|graph)\.py"
    r"|distributed/fsdp/|functional\.py|nn/(functional\.py|(modules|parallel|utils)/)|optim/(adamw?|optimizer|sgd)\.py|utils/(_contextlib|checkpoint)\.py)"
)
_OURS = re.compile(r"/sitecustomize\.py$|/_oomph_agent/|/oomph/agent/")
# Files that libraries write while the program runs.
_GENERATED = re.compile(r"([\\/](..)[\\/]c(?=\2)[a-z2-7]{51}|_(propagate|edge_updater)_.{8})\.py$")
_known: dict[str, bool] = {}


def _find_pytorch() -> tuple[str, ...]:
    """The folder of PyTorch: a build of one's own lies outside of all installed packages. Nothing is imported."""
    spec = importlib.machinery.PathFinder.find_spec("torch")
    return tuple(os.path.join(place, "") for place in (spec and spec.submodule_search_locations) or ())


# Found before Python puts the program's folder on the path.
_PYTORCH = _find_pytorch()


def is_users(filename: str) -> bool:
    """True if a code object's file belongs to none of: the standard library, an installed package, a compiler, this agent."""
    known = _known.get(filename)
    if known is None:
        known = _known[filename] = _decide(filename)
    return known


def _decide(filename: str) -> bool:
    if filename.startswith("<ipython-input-"):
        return True
    if not filename or filename.startswith("<") or _GENERATED.search(filename):
        return False
    path = os.path.abspath(filename)
    return not is_installed(path) and not _OURS.search(path) and not path.startswith((AGENT, *_LIBRARIES, *_PYTORCH))


def is_installed(path: str) -> bool:
    """Tests that a file belongs to an installed package or to Python itself, by its path."""
    return bool(_INSTALLED.search(path))


def is_agents(filename: str) -> bool:
    """True if a code object's file is part of this agent."""
    return filename.startswith(AGENT)


def skip_agents(frame: FrameType | None) -> FrameType | None:
    """The innermost frame outside the agent, at or above `frame`: the caller of a replaced function, as its layers see it."""
    while frame is not None and is_agents(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def users_line(frame: FrameType | None) -> tuple[str, int]:
    """The innermost line of the user's own code at or above `frame`; else the innermost of any file outside the agent; else `("", 0)`."""
    other = ("", 0)
    while frame is not None:
        file = frame.f_code.co_filename
        if is_users(file):
            return file, frame.f_lineno
        if not other[0] and not file.startswith(AGENT):
            other = (file, frame.f_lineno)
        frame = frame.f_back
    return other


def users_line_of_error(trace: TracebackType | None) -> tuple[str | None, int | None]:
    """The innermost line of the user's own code in a traceback."""
    found: tuple[str | None, int | None] = (None, None)
    while trace is not None:
        if is_users(trace.tb_frame.f_code.co_filename):
            found = (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return found


def stack(frame: FrameType | None) -> list[tuple[str, str, int]]:
    """`(function, file, line)` of every frame but the agent's, innermost first."""
    frames = []
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(AGENT):
            frames.append((code.co_name, code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return frames


def list_running(frame: FrameType | None) -> Iterator[FrameType]:
    """Yields `frame` and the frames of the callers, one by one.

    A list of frames in a local variable would be a reference cycle: the frames, and the tensors of the program in them, would outlive the call.
    """
    while frame is not None:
        yield frame
        frame = frame.f_back


def stack_of_thread(thread: int | None) -> list[tuple[str, str, int]]:
    """The stack of another thread; empty if the thread has ended."""
    return stack(sys._current_frames().get(thread)) if thread is not None else []
