"""The file of records: a JSON object a line, appended at once, so that a cut file is a valid prefix.

Its name and its lines are specified at Note [Run directory] in crates/trace/src/run.rs.
"""

import errno
import json
import os
from collections.abc import Callable

from . import wire
from .appending import LibraryFile, PlainFile, make_file
from .failure import say

# File names outside UTF-8 hold surrogates, for which JSON has no escape.
_WRITER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
# Keeps a line elsewhere, because of a system's error at the file; false if it cannot.
Reserve = Callable[[bytes, int], bool]


class RecordFile:
    """The file of one process, which is created with the first record. Between two records nothing of it is open."""

    def __init__(self, folder: str, rank: int, reserve: Reserve | None = None) -> None:
        self.folder = folder
        self.rank = rank
        self.stem: str | None = None
        self._file: LibraryFile | PlainFile | None = None
        self._reserve = reserve
        # The system's error that ended the file, and what it means for the records.
        self._error = 0
        self._outcome = ""

    @property
    def is_open(self) -> bool:
        """True after the first record."""
        return self.stem is not None

    @property
    def is_lost(self) -> bool:
        """True once the file takes no further line."""
        return self._error != 0

    def write(self, record: dict) -> None:
        """Appends a record, made by a function of `records`."""
        line = (_WRITER.encode(record) + "\n").encode("utf-8", "replace")
        if self.stem is None:
            self._create(line)
        elif self._error or not self._append(line):
            self._keep(line)

    def abandon(self) -> None:
        """Forgets the file: a forked child must not write into its parent's."""
        self._file = None
        self.stem = None
        self._error = 0

    def _create(self, line: bytes) -> None:
        for stem in (f"{wire.RANK_PREFIX}{self.rank}", f"{wire.RANK_PREFIX}{self.rank}-{os.getpid()}"):
            self.stem = stem
            self._file = make_file(self._path(stem))
            self._error = self._file.create(line)
            if self._error != errno.EEXIST:
                break
        if self._error:
            self._outcome = "nothing is recorded"
            self._keep(line)

    def _append(self, line: bytes) -> bool:
        """Appends a whole line; false if the path is out of reach for good, or the disk full."""
        self._error = self._file.append(line)
        self._outcome = "the record ends here"
        return not self._error

    def _keep(self, line: bytes) -> None:
        """Keeps a line that the file does not take: later ones of the file would follow a gap."""
        if self._reserve is None:
            say(f"cannot write {self._path(self.stem)}: {os.strerror(self._error)}; {self._outcome}")
        else:
            self._reserve(line, self._error)

    def _path(self, stem: str) -> str:
        return os.path.join(self.folder, stem + wire.MARKS)
