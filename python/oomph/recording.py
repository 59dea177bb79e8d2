"""Reads the file of the recorder while it is written: Note [Recording] in `crates/wire/src/recording.rs`.

Note [Shared recorder]
~~~~~~~~~~~~~~~~~~~~~~
All watches of a process share one recorder. Under `oomph run` the run's recorder is read. Otherwise the first watch starts a recorder; its
file is removed once mapped, and recording pauses between watches. PyTorch's own memory history is not used.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .command import OomphError, read_document, read_failure, run_command

__all__ = ["Event", "Recording", "borrow", "release"]

_HEADER_BYTES, _EVENT, _BLOCK_BYTES = 4096, struct.Struct("<QqQIIIBB2x"), 32
_AT_EVENT_CAPACITY, _AT_BLOCK_CAPACITY, _AT_EVENTS, _AT_TEXTS_USED = 16, 24, 40, 48
_PLACE, _STACK = 1, 2
# Address, change, reserved bytes after the event, stack, step, milliseconds, kind, device.
Event = tuple[int, int, int, int, int, int, int, int]
MEMORY = 1

_lock = threading.RLock()


@dataclass
class Recording:
    """The mapped file of a recorder, and the texts read so far."""

    recorder: Any
    content: mmap.mmap
    is_own: bool
    watches: int = 0
    _places: list[tuple[str, str, int]] = field(default_factory=list)
    _stacks: list[tuple[int, ...]] = field(default_factory=list)
    _texts_read: int = 0

    @property
    def count(self) -> int:
        """The number of events so far."""
        return self._word(_AT_EVENTS)

    def copy_events(self, start: int, end: int) -> bytes:
        """The events from `start` to `end`. Raises `OomphError` if newer events have overwritten the first."""
        capacity = self._word(_AT_EVENT_CAPACITY)
        first, last = (_HEADER_BYTES + number % capacity * _EVENT.size for number in (start, end))
        limit = _HEADER_BYTES + capacity * _EVENT.size
        if end - start >= capacity:
            copied = b""
        elif first <= last:
            copied = self.content[first:last]
        else:
            copied = self.content[first:limit] + self.content[_HEADER_BYTES:last]
        if self.count - start >= capacity:
            message = f"the watched block made more than {capacity:,} allocations and frees, the most that are kept"
            raise OomphError(message, "watch a shorter part of the program, such as a step")
        return copied

    def read_stack(self, number: int) -> list[tuple[str, str, int]]:
        """The function, file and line of each call of a stack, innermost first; empty if unknown."""
        with _lock:
            self._read_texts()
        if not 0 < number <= len(self._stacks):
            return []
        return [self._places[place - 1] for place in self._stacks[number - 1]]

    def _word(self, at: int) -> int:
        word: int = struct.unpack_from("<Q", self.content, at)[0]
        return word

    def _read_texts(self) -> None:
        start = _HEADER_BYTES + self._word(_AT_EVENT_CAPACITY) * _EVENT.size + self._word(_AT_BLOCK_CAPACITY) * _BLOCK_BYTES
        end = start + self._word(_AT_TEXTS_USED)
        at = start + self._texts_read
        while at < end:
            at = self._read_place(at + 1) if self.content[at] == _PLACE else self._read_stack(at + 1)
        self._texts_read = at - start

    def _read_place(self, at: int) -> int:
        line, file_bytes, function_bytes = struct.unpack_from("<IHH", self.content, at)
        middle, end = at + 8 + file_bytes, at + 8 + file_bytes + function_bytes
        file, function = (part.decode("utf-8", "replace") for part in (self.content[at + 8 : middle], self.content[middle:end]))
        self._places.append((function, file, line))
        return int(end)

    def _read_stack(self, at: int) -> int:
        (count,) = struct.unpack_from("<H", self.content, at)
        self._stacks.append(struct.unpack_from(f"<{count}I", self.content, at + 2))
        return at + 2 + 4 * int(count)


def list_events(copied: bytes) -> list[Event]:
    """The events of a copied part of the ring."""
    return list(_EVENT.iter_unpack(copied))


_current: Recording | None = None


def borrow() -> Recording:
    """The recording of this process, on until the last watch releases it."""
    global _current
    with _lock:
        running = getattr(sys.modules.get("_oomph_agent.live.recorder"), "Recorder", None)
        theirs = running.running if running is not None else None
        if theirs is not None and theirs.is_on:
            return Recording(theirs, _map(theirs.file), is_own=False)
        if _current is None:
            _current = _start()
        elif _current.watches == 0:
            _current.recorder.resume()
        _current.watches += 1
        return _current


def release(recording: Recording) -> None:
    """Ends the use by one watch."""
    with _lock:
        if not recording.is_own:
            return
        recording.watches -= 1
        if recording.watches == 0:
            recording.recorder.pause()


def _start() -> Recording:
    """Starts a recorder. The file has no name once mapped, so nothing stays behind."""
    from .agent.live.recorder import Recorder

    try:
        with tempfile.TemporaryDirectory(prefix="oomph-watch-") as folder:
            recorder, file = Recorder(_find_library(folder)), os.path.join(folder, "watch.recording")
            problem = recorder.start(file)
            if problem is not None:
                raise OomphError(f"allocations cannot be recorded: {problem}")
            content = _map(file)
    except OSError as error:
        raise OomphError(f"allocations cannot be recorded: {error}") from error
    os.register_at_fork(after_in_child=_forget)
    return Recording(recorder, content, is_own=True)


def _map(file: str) -> mmap.mmap:
    with open(file, "rb") as opened:
        return mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)


def _find_library(folder: str) -> str:
    """The recorder's library: beside the agent of a dry run, else unpacked by the command."""
    agent = sys.modules.get("_oomph_agent")
    if agent is not None and agent.__file__:
        root = Path(agent.__file__).parents[3]
    else:
        ended = run_command(["record-into", os.path.join(folder, "run"), "--", sys.executable])
        if ended.status:
            raise read_failure(ended, read_document(ended.stdout))
        root = Path(ended.stdout.strip()).parents[3]
    return str(root / "lib" / "liboomph_recorder.so")


def _forget() -> None:
    """Stops in a forked child: the file is the parent's."""
    global _current, _lock
    _lock = threading.RLock()
    if _current is not None:
        _current.recorder.stop()
        _current = None
