"""The helper process of one tracker: lines of metrics in, calls of the library out. See Note [Trackers]."""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn, TextIO

from .figures import Figures, Names, read_figures
from .tracker import ProgramRuns, Tracker, load, open_tracker

# The longest queue, in lines: some minutes of one process, or some seconds of a job of many.
QUEUE_LINES = 512
# The lines to wait for the name of the program's own run: the agent notes it with the first optimizer step.
_EARLY_LINES = 60


@dataclass
class Helper:
    """The state of the process; `lock` guards the count of lines."""

    name: str
    place: str
    # The time for the rest of the queue after the program's end, in seconds.
    patience: float
    output: TextIO
    lines: queue.Queue[str | None] = field(default_factory=lambda: queue.Queue(QUEUE_LINES))
    lock: threading.Lock = field(default_factory=threading.Lock)
    tracker: Tracker | None = None
    names: Names = field(default_factory=Names)
    runs: ProgramRuns = field(default_factory=dict)
    # Figures that came before a run was open.
    early: list[Figures] = field(default_factory=list)
    received: int = 0
    logged: int = 0
    why: str | None = None

    def run(self) -> NoReturn:
        """Logs all lines, and ends the process."""
        if importlib.util.find_spec(self.name) is None:
            self.emit("missing", package=self.name)
            self.end()
        self.emit("ready")
        threading.Thread(target=self.read, daemon=True).start()
        for line in self.list_lines():
            self.take(line)
        self.log_early()
        if self.tracker is not None:
            self.call(self.tracker, self.tracker.close)
        self.finish()

    def emit(self, kind: str, **keys: object) -> None:
        """Writes an event."""
        print(json.dumps({"kind": kind, **keys}), file=self.output, flush=True)

    def read(self) -> None:
        """Reads standard input into the queue, and ends the process some time after the last line."""
        for text in sys.stdin:
            with self.lock:
                self.received += 1
            try:
                self.lines.put_nowait(text)
            except queue.Full:
                # `received` counts the line.
                continue
        timer = threading.Timer(self.patience, self.finish)
        timer.daemon = True
        timer.start()
        self.lines.put(None)

    def list_lines(self) -> Iterator[dict[str, Any]]:
        """The lines of the queue, to the end of the input. The library is loaded with the first line: a process uses CUDA."""
        while (text := self.lines.get()) is not None:
            load(self.name)
            try:
                yield json.loads(text)
            except json.JSONDecodeError:
                # Cut, because a pipe was full. `received` counts the line.
                continue

    def take(self, line: dict[str, Any]) -> None:
        """Logs a line, or keeps it until the tracker is open."""
        for run in line.get("trackers", ()):
            self.runs.setdefault(run["library"], run)
        figures = read_figures(line, self.names)
        if figures is None:
            with self.lock:
                self.received -= 1
            return
        self.early.append(figures)
        is_known = self.name in self.runs or figures.step > 0
        if self.tracker is not None or is_known or line["ended"] or len(self.early) >= _EARLY_LINES:
            self.log_early()

    def log_early(self) -> None:
        """Logs the kept figures; opens the run first."""
        if not self.early:
            return
        if self.tracker is None:
            self.tracker = open_tracker(self.name, self.place, self.runs)
        for figures in self.early:
            self.call(self.tracker, self.tracker.log, figures)
        self.early.clear()

    def call(self, tracker: Tracker, function: Any, *figures: Figures) -> None:
        """Calls the library. An error of one call does not keep the next from the tracker, which may be back by then."""
        try:
            function(*figures)
        except tracker.errors as error:
            self.why = self.why or describe(error)
        else:
            with self.lock:
                self.logged += len(figures)

    def finish(self) -> NoReturn:
        """Says what was logged, and ends the process: also while the other thread waits for the tracker."""
        with self.lock:
            where = self.tracker.where if self.tracker is not None else None
            self.emit("closed", where=where, logged=self.logged, dropped=self.received - self.logged, why=self.why)
            self.end()

    def end(self) -> NoReturn:
        """Ends the process without the library's own functions at exit, which may wait for a server."""
        self.output.flush()
        os._exit(0)


def describe(error: Exception) -> str:
    """The error in a line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
