"""Records a real run in each Python of an environment: `OOMPH_RUN=DIR` suffices where no command can stand in front of the program.

The wheel installs `oomph.pth`, a line that Python runs at each start. Without the variable the line does nothing. With it, the command
prepares the folder, and `sitecustomize` starts the agent as in `oomph run`.
"""

import atexit
import os
import subprocess
import sys

from .__main__ import list_candidates
from .command import Ended, read_document, read_failure

_INJECT = os.path.join("python", "oomph", "agent", "inject")


def start() -> None:
    """Starts the agent, unless `oomph run` does."""
    if any(path.endswith(_INJECT) for path in sys.path):
        return
    folder = os.path.abspath(os.environ["OOMPH_RUN"])
    # A process of the program may be started in another folder.
    os.environ["OOMPH_RUN"] = folder
    command = next((str(path) for path in list_candidates() if os.access(path, os.X_OK)), None)
    if command is None:
        _say("OOMPH_RUN is set, but the `oomph` command is missing; nothing is recorded")
        return
    try:
        prepared = subprocess.run([command, "record-into", folder, "--", *sys.orig_argv], capture_output=True, text=True)
    except OSError as error:
        _say(f"{command} cannot be started: {error.strerror}; nothing is recorded")
        return
    if prepared.returncode:
        failure = read_failure(Ended(prepared.returncode, prepared.stdout, prepared.stderr), read_document(prepared.stdout))
        _say(f"OOMPH_RUN={folder}: {failure.message}; nothing is recorded")
        return
    sys.path.insert(0, prepared.stdout.strip())
    atexit.register(_explain, command, folder)


def _explain(command: str, folder: str) -> None:
    """Explains the end by an out-of-memory error: once for a job, and after the agent's last record."""
    if not _is_out_of_memory(getattr(sys, "last_value", None)):
        return
    try:
        os.close(os.open(os.path.join(folder, "explained"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    except OSError:
        _say(f"out of memory; `oomph explain {folder}` explains it")
        return
    sys.stdout.flush()
    # Standard output is the program's.
    subprocess.run([command, "explain", folder], stdin=subprocess.DEVNULL, stdout=2)


def _is_out_of_memory(error: BaseException | None) -> bool:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if type(error).__name__ == "OutOfMemoryError":
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _say(sentence: str) -> None:
    print(f"oomph: {sentence}", file=sys.stderr)
