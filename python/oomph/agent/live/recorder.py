"""The recorder, a library beside the agent: it notes each allocation with its Python stack (crates/recorder)."""

import ctypes
import errno
import os

from ..appending import load_library
from . import layout

# The events that the ring holds: a GPT-2 makes 3,000 a step. With all parts a recording takes 61 MiB of the disk.
_EVENTS = 1 << 20
_PROBLEMS = {
    -1: "this PyTorch reports no allocations",
    errno.ENOSPC: "they take 61 MiB, or 8 MiB, and that is more than a tenth of the free disk; or 512 processes are recorded already",
}


class Recorder:
    """The recorder of this process."""

    # The recorder of `oomph run`, also for `oomph.watch`.
    running: "Recorder | None" = None

    def __init__(self, library: str | None = None) -> None:
        self._path = library
        self._library: ctypes.PyDLL | None = None
        self.file = ""

    def start(self, path: str) -> str | None:
        """Records into a new file; returns what is in the way, if anything is."""
        library = load_library(self._path) if self._path else load_library()
        found = layout.find(library)
        if found is None:
            return "this version of Python is not known to the recorder"
        status = library.oomph_recorder_start(os.fsencode(path), _EVENTS, ctypes.addressof(found))
        if status:
            return _PROBLEMS.get(status) or f"their file could not be made: {os.strerror(status)}"
        self._library, self.file = library, path
        return None

    @property
    def is_on(self) -> bool:
        """True while it records."""
        return self._library is not None

    def set_step(self, step: int) -> None:
        """Sets the step of the events that follow."""
        if self._library is not None:
            self._library.oomph_recorder_step(step)

    def count(self) -> int:
        """The number of events so far."""
        return 0 if self._library is None else self._library.oomph_recorder_count()

    def reserve(self, line: bytes, error: int) -> bool:
        """Keeps a line that the file of records does not take, because of a system's error."""
        return self._library is not None and bool(self._library.oomph_recorder_reserve(line, len(line), error))

    def save(self, path: str, content: bytes) -> int:
        """Writes a file whole, or leaves the one before; returns 0 or the system's error."""
        return errno.ENOSYS if self._library is None else self._library.oomph_recorder_save(os.fsencode(path), content, len(content))

    def pause(self) -> None:
        """Records nothing until `resume`."""
        if self._library is not None:
            self._library.oomph_recorder_stop()

    def resume(self) -> None:
        """Goes on after `pause`."""
        if self._library is not None:
            self._library.oomph_recorder_resume()

    def stop(self) -> None:
        """Stops, in a forked child."""
        self.pause()
        self._library = None
