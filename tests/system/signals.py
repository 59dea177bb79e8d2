"""Signals to oomph and to the programs: the end, the time until then, and the remains.

`box.assert_clean` runs after every case and checks for remaining processes and temporary files.
"""

import os
import select
import signal
import subprocess
import time
from pathlib import Path

from bad_input import MODEL, STEPS, no_noise
from harness import Box, Case, collect, contains, expect

def ready(box: Box) -> tuple[Path, int]:
    """A pipe for the reports of a script, and our end of the pipe."""
    # A run in a private world shares the pipes of the current folder.
    path = box.work / "ready"
    os.mkfifo(path)
    return path, os.open(path, os.O_RDWR | os.O_NONBLOCK)


def wait_for(pipe: int) -> str:
    """The next message of the script."""
    readable, _, _ = select.select([pipe], [], [], 60)
    assert readable, "the script did not get ready within 60 s"
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


def interrupted(box: Box, ending: str, *signals: signal.Signals, searching: bool = False) -> None:
    """A signal to oomph ends the program, with all descendants."""
    path, pipe = ready(box)
    box.write("script.py", MODEL + WAITS.format(path=str(path)) + ending)
    # A shell in between keeps a server from forking the program.
    plainly = ("fit", "--", "sh", "-c", 'exec "$0" script.py', box.python)
    process = box.start(box.oomph, *(plainly if searching else ("check", "--python", box.python, "script.py")))
    for number in signals:
        wait_for(pipe)
        process.send_signal(number)
    result = collect(process)
    os.close(pipe)
    expect(result, (result.status, result.stdout), (2, ""), "status and standard output")
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
    deadline = time.monotonic() + 30
    while (box.processes() or any(box.temporary.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.01)
    box.assert_clean()


STUBBORN = """
def refuse(number, frame):
    tell("refused")
signal.signal(signal.SIGINT, refuse)
tell("ready")
while True:
    signal.pause()
"""


def interrupted_before_cuda(box: Box) -> None:
    """A program that drops Ctrl-C, as extensions may during imports, is ended soon before the first use of a GPU."""
    path, pipe = ready(box)
    box.write("script.py", "import torch\n" + WAITS.format(path=str(path)) + STUBBORN)
    process = box.start(box.oomph, "check", "--python", box.python, "script.py")
    wait_for(pipe)
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    result = collect(process)
    os.close(pipe)
    refused_in = time.monotonic() - started
    expect(result, (result.status, result.stderr.strip()), (2, "error: interrupted"), "status and standard error")
    assert refused_in < 8, f"ended after {refused_in:.1f} s"


def stops_itself(box: Box) -> None:
    """A stopped program goes on at the end of the time limit, writes the records and ends."""
    box.write("script.py", MODEL + STEPS + "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n")
    result = box.check("--json", "--steps", "0", "--timeout", "20", "script.py")
    expect(result, (result.status, result.report["verdict"], result.report["steps"]), (0, "fits_so_far", 3), "status, verdict, steps")
    contains(result, str(result.report), "its time was up")
    assert result.report["seconds"] < 40, result


CASES = [
    Case("a program that stops itself", stops_itself),
    Case("Ctrl-C", lambda box: interrupted(box, PATIENT, signal.SIGINT)),
    Case("Ctrl-C before CUDA", interrupted_before_cuda),
    Case("SIGKILL", killed),
    Case("SIGTERM", lambda box: interrupted(box, PATIENT, signal.SIGTERM)),
    Case("a terminal that hangs up", lambda box: interrupted(box, PATIENT, signal.SIGHUP)),
    Case("Ctrl-C twice", lambda box: interrupted(box, STUBBORN, signal.SIGINT, signal.SIGINT)),
    Case("Ctrl-C twice in a search", lambda box: interrupted(box, STUBBORN, signal.SIGINT, signal.SIGINT, searching=True)),
]
