"""Phantom machines with programs, and programs in terminals."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import suite

HERE = Path(__file__).resolve().parent
PATIENCE = 120


class Machine:
    """Separate programs under one `oomph phantom`, in a folder that is removed."""

    def __init__(self, oomph: Path, folder: Path, *options: str, in_front: Sequence[str] = (), **environment: str) -> None:
        self.oomph, self.folder = oomph, folder
        # A shell that stays, so that all programs and oomph itself are on the same GPUs.
        command = [oomph, "phantom", *options, "--", *in_front, sys.executable, HERE / "shell.py"]
        self.shell = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder, env={**os.environ, **environment})

    def ask(self, **request: object) -> dict:
        """Sends a request to the shell; returns its answer."""
        self.shell.stdin.write(json.dumps(request) + "\n")
        self.shell.stdin.flush()
        answer = json.loads(self.shell.stdout.readline())
        assert "error" not in answer, answer
        return answer

    def start(self, *command: object) -> int:
        """Starts a program, which prints a line when ready; returns the process number."""
        return self.ask(start=list(map(str, command)))["pid"]

    def top(self, *options: str, **environment: str) -> str:
        """The output of `oomph top --once`."""
        answer = self.ask(run=[str(self.oomph), "top", "--once", *options], environment=environment)
        assert answer["status"] == 0, answer
        return answer["output"]

    def look(self) -> dict:
        """The report as JSON."""
        return json.loads(self.top("--json"))

    def close(self) -> None:
        """Ends the programs."""
        self.shell.stdin.close()
        self.shell.wait(PATIENCE)


@contextlib.contextmanager
def machine(oomph: Path, *options: str, in_front: Sequence[str] = (), **environment: str) -> Iterator[Machine]:
    """Programs on phantom GPUs; `in_front`: words before the shell (`failing_nvml`)."""
    with tempfile.TemporaryDirectory(prefix="a folder ") as folder:
        one = Machine(oomph, Path(folder), *options, in_front=in_front, **environment)
        try:
            yield one
        finally:
            one.close()


def wait_for(condition: Callable[[], object]) -> object:
    """The first true value of a condition."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "the condition never held"
        time.sleep(0.05)
    return found


class Terminal:
    """A program in a new terminal of tmux."""

    def __init__(self, columns: int, rows: int, *command: object, environment: dict[str, str] | None = None) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="oomph-tmux")
        self.socket = ["tmux", "-f", "/dev/null", "-S", str(Path(self.folder.name) / "socket")]
        options = [word for name, value in (environment or {}).items() for word in ("-e", f"{name}={value}")]
        self.tmux("new-session", "-d", "-x", columns, "-y", rows, *options, *command)

    def tmux(self, *words: object) -> str:
        """Runs a command of tmux."""
        return subprocess.run([*self.socket, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE, check=False).stdout

    def screen(self) -> list[str]:
        """The rows on the screen."""
        return self.tmux("capture-pane", "-p").split("\n")

    def wait(self, *words: str) -> list[str]:
        """Waits until all words are on the screen."""
        try:
            wait_for(lambda: all(word in "\n".join(self.screen()) for word in words))
        except AssertionError:
            raise AssertionError(f"{words} never were on the screen:\n" + "\n".join(self.screen())) from None
        return self.screen()

    def press(self, *keys: str) -> None:
        """Presses keys."""
        self.tmux("send-keys", *keys)

    def pid(self) -> int:
        """The process in the terminal."""
        return int(self.tmux("display-message", "-p", "#{pane_pid}"))

    def close(self) -> None:
        """Ends the terminal."""
        self.tmux("kill-server")
        self.folder.cleanup()


@contextlib.contextmanager
def terminal(columns: int, rows: int, *command: object, **options) -> Iterator[Terminal]:
    """A terminal with a program."""
    if shutil.which("tmux") is None:
        raise suite.Skip("tmux is not installed")
    one = Terminal(columns, rows, *command, **options)
    try:
        yield one
    finally:
        one.close()
