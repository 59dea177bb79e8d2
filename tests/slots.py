"""Slots shared by the suites of one run: no core is idle while a suite drains.

A folder has a file for each slot, and a suite locks a file (flock(2)) for the time of a case: the lock of a dead suite is free again.
`tests/run.py` makes the folder; a suite by itself has a slot for each job. Cases to be run alone are left out while suites share slots, and
run at the end, with one suite at a time.
"""

import fcntl
import os
import time
from pathlib import Path

# The folder of the slots; unset for a suite by itself.
FOLDER = "OOMPH_TEST_SLOTS"
# `shared`: cases to be run alone are left out, and the suite is noted. `alone`: only these cases are run.
ROUND = "OOMPH_TEST_ROUND"
# The name of the suite in `tests/run.py`.
KIND = "OOMPH_TEST_KIND"
# Seconds between two looks for a free slot.
PAUSE = 0.05


class Slots:
    """Slots of this suite alone, or of a folder."""

    def __init__(self, count: int, folder: Path | str | None = None) -> None:
        self._free = count
        folder = folder or os.environ.get(FOLDER)
        self._files = [os.open(path, os.O_RDWR) for path in sorted(Path(folder).glob("slot*"))] if folder else []
        self._taken: list[int] = []

    def take(self, waits: bool) -> bool:
        """Takes a slot, if one is free or `waits` for one."""
        if not self._files:
            self._free -= 1
            return True
        while not (file := self._lock_any()) and waits:
            time.sleep(PAUSE)
        return file is not None

    def _lock_any(self) -> int | None:
        for file in self._files:
            if file not in self._taken:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                self._taken.append(file)
                return file
        return None

    def has_own(self) -> bool:
        """False if the suite has used up its own slots."""
        return bool(self._files) or self._free > 0

    def put_back(self) -> None:
        """Frees a slot."""
        if self._files:
            # Also for the forked case, with a descriptor of the same lock.
            fcntl.flock(self._taken.pop(), fcntl.LOCK_UN)
        else:
            self._free += 1


def are_shared() -> bool:
    """True for a suite beside others."""
    return FOLDER in os.environ


def is_left_out(is_alone: bool) -> bool:
    """True for a case of the other round."""
    return os.environ.get(ROUND) == ("shared" if is_alone else "alone")


def note_alone() -> None:
    """Notes cases of this suite for the end of the run."""
    if are_shared():
        (Path(os.environ[FOLDER]) / f"alone-{os.environ[KIND]}").touch()


def describe_suite(suite: str) -> str:
    """The first words of a case's line, among the lines of several suites."""
    return f"{suite:13}" if are_shared() else ""
