"""The variables of a running function, read without keeping them alive.

Note [Locals]
~~~~~~~~~~~~~
Before Python 3.13, `frame.f_locals` of a function fills a dict that the frame keeps: every value stays alive until the function returns,
even after the program deletes the variable. A program that catches an out-of-memory error, deletes a tensor and tries again would then run
out again. So the dict is emptied after reading, unless the function may hold the dict itself, because it calls `locals` or a similar
function.
"""

import ctypes
import dis
import functools
import inspect
import sys
from types import CodeType, FrameType

# Functions that return the dict, or read from it.
_READERS = {"locals", "vars", "eval", "exec", "dir"}
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
_IS_PROXY = sys.version_info >= (3, 13)


def read(frame: FrameType, name: str, default: object = None) -> object:
    """The value of a local variable; `default` if the variable is unset. Code of a module has its globals."""
    return read_all(frame, [name]).get(name, default)


def read_all(frame: FrameType, names: list[str]) -> dict[str, object]:
    """The values of those variables that are set."""
    code = frame.f_code
    is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
    if is_function:
        own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        names = [name for name in names if name in own]
    if not names:
        return {}
    variables = frame.f_locals
    if not is_function and type(variables) is not dict:
        # A class with a `__prepare__`, or `exec` with a mapping of the program's: reading would run its code.
        return {}
    found = {name: variables[name] for name in names if name in variables}
    if is_function and not _IS_PROXY and not _reads_dict(code):
        variables.clear()
    return found


@functools.cache
def _reads_dict(code: CodeType) -> bool:
    """True if a function may hold the dict of its variables. `model.eval()` reads a method of that name."""
    if _READERS.isdisjoint(code.co_names):
        return False
    return any(it.opname in _LOADS and it.argval in _READERS for it in dis.get_instructions(code))


def assign(frame: FrameType, name: str, value: object) -> None:
    """Changes a variable of a function."""
    variables = frame.f_locals
    variables[name] = value
    if not _IS_PROXY:
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
        variables.clear()


def find_frame(frame: FrameType | None, names: tuple[str, ...], module: str) -> FrameType | None:
    """The innermost call of one of a module's functions, at or above `frame`."""
    while frame is not None:
        if frame.f_code.co_name in names and frame.f_globals.get("__name__") == module:
            return frame
        frame = frame.f_back
    return None
