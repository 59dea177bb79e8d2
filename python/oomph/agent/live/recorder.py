"""The recorder, a library beside the agent: it notes each allocation with its Python stack (crates/recorder)."""

import ctypes
import os

from . import layout

_LIBRARY = os.path.join(os.path.dirname(__file__), *[os.pardir] * 4, "lib", "liboomph_recorder.so")
# The events that the ring holds: a GPT-2 makes 3,000 a step. With all parts a recording takes 60 MiB of the disk.
_EVENTS = 1 << 20
_PROBLEMS = {1: "its file could not be made (is the disk full?)", 2: "this PyTorch reports no allocations"}


class Recorder:
    """The recorder of this process."""

    # The recorder of `oomph run`, also for `oomph.watch`.
    running: "Recorder | None" = None

    def __init__(self, library: str = _LIBRARY) -> None:
        self._path = library
        self._library: ctypes.CDLL | None = None
        self.file = ""

    def start(self, path: str) -> str | None:
        """Records into a new file; returns what is in the way, if anything is."""
        library = ctypes.CDLL(self._path)
        found = layout.find(library)
        if found is None:
            return "this version of Python is not known to the recorder"
        library.oomph_recorder_start.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_void_p]
        library.oomph_recorder_start.restype = ctypes.c_int
        library.oomph_recorder_count.restype = ctypes.c_uint64
        library.oomph_recorder_step.argtypes = [ctypes.c_uint32]
        status = library.oomph_recorder_start(os.fsencode(path), _EVENTS, ctypes.addressof(found))
        if status:
            return _PROBLEMS.get(status, f"status {status}")
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
