"""Signals to oomph and to the programs: the end, the time until then, and the remains.

`box.assert_clean` runs after every case and checks for remaining processes and temporary files.
"""

import contextlib
import os
import select
import signal
import subprocess
import time
from pathlib import Path

from harness import LIMIT_SECONDS, Box, Case, collect, contains, expect
from refusals import MODEL, STEPS, no_noise

# Seconds in which a script reports its arrival.
PATIENCE = 300


def ready(box: Box) -> tuple[Path, int]:
    """A pipe for the reports of a script, and our end of the pipe."""
    # A run in a private world shares the pipes of the current folder.
    path = box.work / "ready"
    os.mkfifo(path)
    return path, os.open(path, os.O_RDWR | os.O_NONBLOCK)


def wait_for(pipe: int) -> str:
    """The next message of the script."""
    readable, _, _ = select.select([pipe], [], [], PATIENCE)
    assert readable, f"the script did not get ready within {PATIENCE} s"
    return os.read(pipe, 100).decode()


WAITS = """
import os, signal, subprocess, sys
subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], start_new_session=True)
def tell(word):
    with open({path!r}, "w") as pipe:
        pipe.write(word)
"""

PATIENT = """
tell("ready")
signal.pause()
"""

# A C function that never ends, with the interpreter's lock: no handler of Python's runs. The shell tells at the end of its input, when the
# interpreter is in pclose(3) already.
ENDLESS = """
import ctypes
libc = ctypes.PyDLL(None)
libc.popen.restype, libc.pclose.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
def wait_in_c(path, word):
    shell = libc.popen(f"trap '' INT TERM; read line; printf {word} > {path!r}; exec sleep infinity".encode(), b"w")
    libc.pclose(shell)
"""


def interrupted_twice(box: Box, searching: bool = False) -> None:
    """A second signal to oomph ends the program at once, with all descendants."""
    path, pipe = ready(box)
    box.write("script.py", MODEL + WAITS.format(path=str(path)) + ENDLESS + f"wait_in_c({str(path)!r}, 'ready')\n")
    # A shell in between keeps a server from forking the program.
    plainly = ("fit", "--", "sh", "-c", 'exec "$0" script.py', box.python)
    process = box.start(box.oomph, *(plainly if searching else ("check", "--python", box.python, "script.py")))
    wait_for(pipe)
    process.send_signal(signal.SIGINT)
    said = process.stderr.readline().decode()
    while said.startswith("oomph: ") and "a second signal" not in said:
        said = process.stderr.readline().decode()
    # Signals close together are one request.
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
    result = collect(process)
    os.close(pipe)
    contains(result, said, "a second signal ends at once")
    expect(result, (result.status, result.stdout), (130, ""), "status and standard output")
    contains(result, result.stderr, "error: interrupted")
    no_noise(result)


def killed(box: Box) -> None:
    """A SIGKILL to oomph ends the program and the child in a separate session, and removes the folder."""
    path, pipe = ready(box)
    box.write("script.py", MODEL + WAITS.format(path=str(path)) + PATIENT)
    process = box.start(box.oomph, "check", "--python", box.python, "script.py", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(pipe)
    process.kill()
    process.wait()
    os.close(pipe)
    deadline = time.monotonic() + 120
    while (box.processes() or any(box.temporary.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.01)
    box.assert_clean()


def stops_itself(box: Box) -> None:
    """A stopped program goes on at the end of the time limit, writes the records and ends."""
    box.write("script.py", MODEL + STEPS + "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n")
    result = box.check("--json", "--steps", "0", "--timeout", LIMIT_SECONDS, "script.py")
    expect(result, (result.status, result.report["verdict"], result.report["steps"]), (0, "fits_so_far", 3), "status, verdict, steps")
    contains(result, str(result.report), "stopped by --timeout")


CASES = [
    Case("a program that stops itself", stops_itself),
    Case("SIGKILL", killed),
    Case("Ctrl-C twice", interrupted_twice),
    Case("Ctrl-C twice in a search", lambda box: interrupted_twice(box, searching=True)),
]
