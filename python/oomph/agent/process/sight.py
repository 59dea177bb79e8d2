"""The view of this process from outside, whatever the interpreter does.

Note [Sight]
~~~~~~~~~~~~
A program in a C function, a waiting or a killed program answers no question. Two files of the run directory answer in its place:

`position-<pid>`    step and phase, as in the marks of the memory history. The file is mapped, so an update is a copy of bytes, and the last
                    position outlives the process.
`stack-<pid>`       the stack of the main thread, appended by `faulthandler` when the launcher sends `wire.STACK`. Its handler is written in C
                    and needs no interpreter.

The launcher sends the signal only to a process that has the file open: a program that closed the descriptor, and opened a file of its own with the
same number, is not asked. A forked child drops both files, and has files of its own from its first use of CUDA.
"""

import contextlib
import ctypes
import faulthandler
import fcntl
import mmap
import os

from .. import wire
from ..failure import guarded

# A descriptor of the agent's is not below this number, if the limit of the process allows that: small ones are the program's.
_LOWEST = 600

# The room for a position; a longer one is cut.
_BYTES = 128
_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
# `MAP_FAILED` of mmap(2), as an unsigned number.
_FAILED = ctypes.c_size_t(-1).value


class Sight:
    """The two files of this process."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._stack: int | None = None
        self._position: ctypes.Array | None = None

    @guarded
    def show_stack(self) -> None:
        """Lets the launcher ask for the Python stack."""
        if self._stack is None:
            self._stack = _move_up(os.open(self._path(wire.STACK_PREFIX), _NEW_FILE | os.O_APPEND, 0o644))
            faulthandler.register(wire.STACK, file=self._stack, all_threads=False, chain=False)

    @guarded
    def show_position(self) -> None:
        """Keeps the position in its file, from the next move on."""
        if self._position is None:
            self._position = _map(self._path(wire.POSITION_PREFIX))

    def move(self, position: str) -> None:
        """Sets the position."""
        if self._position is not None:
            self._position.raw = position.encode("utf-8", "replace")[: _BYTES - 1].ljust(_BYTES, b"\n")

    @guarded
    def reset(self) -> None:
        """Drops both files in a forked child: the parent's."""
        self._position = None
        if self._stack is not None:
            faulthandler.unregister(wire.STACK)
            os.close(self._stack)
            self._stack = None

    def _path(self, prefix: str) -> str:
        return os.path.join(self._folder, f"{prefix}{os.getpid()}")


def _move_up(file: int) -> int:
    """Moves a descriptor out of the numbers of the program."""
    with contextlib.suppress(OSError):
        moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _LOWEST)
        os.close(file)
        return moved
    return file


def _map(path: str) -> ctypes.Array:
    """Maps a new file. Python's own `mmap` keeps a descriptor, which the program may close, and the mapping would close a second time."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    library.mmap.restype = ctypes.c_size_t
    file = os.open(path, _NEW_FILE, 0o644)
    try:
        os.ftruncate(file, _BYTES)
        address = library.mmap(None, _BYTES, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, file, 0)
    finally:
        os.close(file)
    if address == _FAILED:
        raise OSError(ctypes.get_errno(), "cannot map", path)
    return (ctypes.c_char * _BYTES).from_address(address)
