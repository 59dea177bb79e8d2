"""Whether the GPU is a phantom, and what it is told to answer.

The phantom library is preloaded, so its symbols are the process's. On a real GPU they are missing, and with them goes
everything that must never be done there.
"""

import contextlib
import ctypes


class Phantom:
    """The entry points that the phantom has for the agent."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._answer = library.oomph_answer_next_read
        self._answer.argtypes = [ctypes.c_uint64]
        self._answer.restype = None
        self._answer_at = library.oomph_answer_at
        self._answer_at.argtypes = [ctypes.c_uint64, ctypes.c_uint8]
        self._answer_at.restype = None
        self._clear = library.oomph_answer_clear
        self._clear.argtypes = []
        self._clear.restype = None

    def answer_at(self, address: int, value: bool) -> None:
        """The next read of the one byte at `address` gives `value`."""
        self._answer_at(address, value)

    @contextlib.contextmanager
    def answering(self, value: int):
        """Within it, the next small read from the device to the host gives `value`."""
        self._answer(value)
        try:
            yield
        finally:
            self._clear()


def find() -> Phantom | None:
    """The phantom of this process; `None` on a real GPU."""
    library = ctypes.CDLL(None)
    return Phantom(library) if hasattr(library, "oomph_answer_next_read") else None
