"""The file of records: a JSON object a line, appended at once, so that a cut file is a valid prefix.

Its name and its lines are specified at Note [Run directory] in crates/trace/src/run.rs.
"""

import json
import os

from . import wire
from .process.failure import say


_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC


class RecordFile:
    """The file of one process, which is created with the first record."""

    def __init__(self, folder: str, rank: int) -> None:
        self.folder = folder
        self.rank = rank
        self.stem: str | None = None
        self._file: int | None = None

    @property
    def is_open(self) -> bool:
        """True after the first record."""
        return self.stem is not None

    def write(self, record: dict) -> None:
        """Appends a record, made by a function of `records`."""
        # File names outside UTF-8 hold surrogates, for which JSON has no escape: "replace" substitutes them.
        line = json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n"
        if self.stem is None:
            self._open()
        if self._file is not None:
            self._append(line.encode("utf-8", "replace"))

    def abandon(self) -> None:
        """Forgets the file: a forked child must not write into its parent's."""
        if self._file is not None:
            os.close(self._file)
        self._file = None
        self.stem = None

    def _open(self) -> None:
        stems = (f"{wire.RANK_PREFIX}{self.rank}", f"{wire.RANK_PREFIX}{self.rank}-{os.getpid()}")
        for stem in stems:
            self.stem = stem
            try:
                self._file = os.open(self._path(stem), _NEW_FILE, 0o644)
                return
            except FileExistsError:
                continue
            except OSError as error:
                say(f"cannot write {self._path(stem)}: {error.strerror}; nothing is recorded")
                return
        say(f"cannot write {self._path(stems[-1])}: it exists already; nothing is recorded")

    def _path(self, stem: str) -> str:
        return os.path.join(self.folder, stem + wire.MARKS)

    def _append(self, line: bytes) -> None:
        """Writes a whole line, or stops writing for good: what follows a cut line could not be read."""
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            say(f"cannot write {self._path(self.stem)}: {error.strerror}; the record ends here")
            os.close(self._file)
            self._file = None
