"""Finds the phantom, and sets its answers.

The phantom library is preloaded, so its symbols are the process's. On a real GPU the symbols are missing, and the agent changes no
behaviour.
"""

import contextlib
import ctypes
from collections.abc import Callable

_Listener = ctypes.CFUNCTYPE(None, ctypes.c_uint64)
# `NCCL_SPLIT_NOCOLOR`: the colour of no group.
_ANY_COLOR = -1


class Phantom:
    """The entry points that the phantom has for the agent."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._answer = library.oomph_answer_scalars
        self._answer.argtypes = [ctypes.c_uint64]
        self._answer.restype = None
        self._answer_at = library.oomph_answer_at
        self._answer_at.argtypes = [ctypes.c_uint64, ctypes.c_uint8]
        self._answer_at.restype = None
        self._clear = library.oomph_answer_clear
        self._clear.argtypes = []
        self._clear.restype = None
        self._on_unknown_read = library.oomph_on_unknown_read
        self._on_unknown_read.argtypes = [_Listener]
        self._on_unknown_read.restype = None
        self._is_in_kernel = library.oomph_is_in_kernel
        self._is_in_kernel.argtypes = []
        self._is_in_kernel.restype = ctypes.c_int
        self._written = ctypes.c_uint64.from_address(_address_of(library.oomph_written_count))
        self._written_seen = 0
        self._take_written = library.oomph_take_written
        self._take_written.argtypes = [ctypes.POINTER(ctypes.c_size_t)] * 2
        self._take_written.restype = ctypes.c_int
        self._read_copied = library.oomph_read_copied
        self._read_copied.argtypes = [ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t]
        self._read_copied.restype = ctypes.c_int
        self._clear_host = library.oomph_clear_host
        self._clear_host.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
        self._clear_host.restype = None
        self._first_touched = library.oomph_first_touched
        self._first_touched.argtypes = [ctypes.c_size_t, ctypes.c_size_t, *[ctypes.POINTER(ctypes.c_size_t)] * 2]
        self._first_touched.restype = ctypes.c_int
        self._group = library.oomph_nccl_group
        self._group.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int]
        self._group.restype = None
        # Callbacks of the phantom must live as long as the process: a call may be under way.
        self._listeners: list[_Listener] = []

    def listen(self, listener: Callable[[int], object]) -> None:
        """Calls `listener` with the number of bytes, whenever the program reads values that nothing computed.

        The call comes in the reading thread, inside the reading operator. See Note [Unknown reads] in crates/phantom/src/values.rs.
        """
        self._listeners.append(_Listener(listener))
        self._on_unknown_read(self._listeners[-1])

    def stop_listening(self) -> None:
        """The interpreter ends: nothing may be called in it any more."""
        self._on_unknown_read(_Listener())

    def say_group(self, color: int, count: int, rank: int) -> None:
        """Announces that the communicator split off with `color` has `count` ranks, and that this is the `rank`-th."""
        self._group(color, count, rank)

    def say_next_group(self, count: int, rank: int) -> None:
        """Sets the size and rank of the next split, of any colour."""
        self._group(_ANY_COLOR, count, rank)

    def answer_at(self, address: int, value: bool) -> None:
        """Makes the next read of the byte at `address` return `value`."""
        self._answer_at(address, value)

    def is_in_kernel(self) -> bool:
        """In the stand-in for an operator: whether a kernel called it, which may change the result unseen, and not the program."""
        return bool(self._is_in_kernel())

    def take_written(self) -> list[tuple[int, int]]:
        """Start and end of each write since the last call that PyTorch did not issue, by libraries, kernels and copies."""
        if self._written.value == self._written_seen:
            return []
        self._written_seen = self._written.value
        start, end, ranges = ctypes.c_size_t(), ctypes.c_size_t(), []
        while self._take_written(ctypes.byref(start), ctypes.byref(end)):
            ranges.append((start.value, end.value))
        return ranges

    def read_copied(self, address: int, into: int, size: int) -> bool:
        """Reads bytes that the last write copied or filled in to host memory; returns False if one is not known."""
        return bool(self._read_copied(address, into, size))

    def clear_host(self, address: int, size: int) -> None:
        """Makes host memory read as zeros; large host memory then takes none.

        See Note [Host memory] in crates/phantom/src/host.rs.
        """
        self._clear_host(address, size)

    def first_touched(self, address: int, size: int) -> tuple[int, int] | None:
        """Start and end of the first part of a range of host memory that may hold data; `None` if the whole range is a hole."""
        start, end = ctypes.c_size_t(), ctypes.c_size_t()
        found = self._first_touched(address, size, ctypes.byref(start), ctypes.byref(end))
        return (start.value, end.value) if found else None

    @contextlib.contextmanager
    def answering(self, value: int):
        """Makes the next small read from the device to the host, within this context, return `value`."""
        self._answer(value)
        try:
            yield
        finally:
            self._clear()


def _address_of(function) -> int:
    function.argtypes, function.restype = [], ctypes.c_size_t
    return function()


def find() -> Phantom | None:
    """The phantom of this process; `None` on a real GPU."""
    library = ctypes.CDLL(None)
    return Phantom(library) if hasattr(library, "oomph_answer_scalars") else None
