"""The variables of a function that is running."""

import ctypes
import sys
from types import FrameType


def find_frame(frame: FrameType | None, names: tuple[str, ...], module: str) -> FrameType | None:
    """The innermost call of one of a module's functions, at or above `frame`."""
    while frame is not None:
        if frame.f_code.co_name in names and frame.f_globals.get("__name__") == module:
            return frame
        frame = frame.f_back
    return None


def assign(frame: FrameType, name: str, value: object) -> None:
    """Gives a variable of a running function another value."""
    frame.f_locals[name] = value
    if sys.version_info < (3, 13):
        # The mapping is a copy there.
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
