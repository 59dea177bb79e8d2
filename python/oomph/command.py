"""The `oomph` command, run for a Python caller."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

__all__ = ["Ended", "OomphError", "StrPath", "find_command", "read_document", "read_failure", "run_command", "to_path"]

StrPath = Union[str, "os.PathLike[str]"]

# The time for the command to end its program after a Ctrl-C, in seconds.
_PATIENCE_SECONDS = 20
_INSTALL = "`make build` builds it in a checkout, `pip install .` builds and installs it; both need Rust"


class OomphError(RuntimeError):
    """oomph could not answer: the program failed, the input was bad, or oomph cannot work here.

    `str(error)` is the message, then a line with the hint.
    """

    def __init__(
        self, message: str, hint: str | None = None, *,
        status: int | None = None, stderr: str = "", output: str | None = None, kind: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(f"{message}\nhint: {hint}" if hint else message)
        self.message = message
        self.hint = hint
        #: The command's exit status; `None` if the command was not run.
        self.status = status
        #: The command's standard error, with the last output of a failed program.
        self.stderr = stderr
        #: The last output of a failed program; `None` without one.
        self.output = output
        #: The kind of the error, a word of the schema `docs/schema/error.json`; `None` for a report that is no answer, and for errors of this package.
        self.kind = kind

    def __reduce__(self) -> tuple[object, ...]:
        """Keeps all attributes in a pickle, as between worker processes."""
        return type(self), (self.message, self.hint), {"status": self.status, "stderr": self.stderr, "output": self.output, "kind": self.kind}


@dataclass(frozen=True)
class Ended:
    """The end of a command: its status and its output."""

    status: int
    stdout: str
    stderr: str


def find_command() -> str | None:
    """The path of the `oomph` command: this Python's own, else the first on the search path; `None` without a command."""
    # `python -m oomph` warns of a `__main__` that the package has imported.
    from .__main__ import list_candidates

    own = next((str(path) for path in list_candidates() if path.is_file() and os.access(path, os.X_OK)), None)
    return own or shutil.which("oomph")


def run_command(
    words: Sequence[str],
    *,
    text: str | None = None,
    cwd: StrPath | None = None,
    env: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
) -> Ended:
    """Runs the command to its end, with `text` as its standard input. A Ctrl-C ends the command, and its program, first."""
    command = find_command()
    if command is None:
        raise OomphError("the `oomph` command is missing", _INSTALL)
    stdin = subprocess.DEVNULL if text is None else subprocess.PIPE
    try:
        process = subprocess.Popen(
            [command, *words], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, env=env,
            encoding="utf-8", errors="replace", pass_fds=pass_fds,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise OomphError(f"the command cannot be started: {error}") from error
    with process:
        try:
            stdout, stderr = process.communicate(text)
        except BaseException:
            _end(process)
            raise
    return Ended(process.returncode, stdout, stderr)


def _end(process: subprocess.Popen[str]) -> None:
    """Ends the command, and so its program and the effects on files; a command that takes too long is killed."""
    process.terminate()
    try:
        process.communicate(timeout=_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            process.kill()


def read_document(text: str) -> dict[str, Any]:
    """The JSON object of an answer or an error; empty without one."""
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def read_failure(ended: Ended, document: Mapping[str, Any]) -> OomphError:
    """The error of a command without an answer: the object `error`, or the report of a command that could not tell."""
    error = document.get("error", {})
    message = error.get("message") or document.get("headline") or ended.stderr.strip()
    message = message or f"`oomph` ended with exit status {ended.status} and no message"
    return OomphError(message, error.get("hint"), status=ended.status, stderr=ended.stderr, output=error.get("output"), kind=error.get("kind"))


def to_path(path: StrPath) -> str:
    """A path as a word of the command line. No path is taken for an option."""
    word = os.fspath(path)
    return os.path.join(os.curdir, word) if word.startswith("-") else word
