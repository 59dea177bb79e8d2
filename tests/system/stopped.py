"""Answers of stopped commands: after signals, at the time limit, of programs without an answer, in every command.

The peaks are computed from the shapes. Each program reports its arrival by a pipe.
"""

import json
import os
import pty
import re
import select
import signal
import subprocess
import threading
from pathlib import Path

from harness import LIMIT_SECONDS, Box, Case, Result, collect, contains, expect
from refusals import no_noise
from signals import ENDLESS, ready, wait_for

MIB = 1 << 20
# A parameter and its gradient of 4 MiB each, in a segment of 20 MiB; the sum and its gradient, of 512 bytes, in one of 2 MiB.
TRAINS = """
import os, signal, sys, time
import torch
weight = torch.nn.Parameter(torch.zeros(MIB, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1, foreach=False)
def step():
    optimizer.zero_grad()
    weight.sum().backward()
    optimizer.step()
PIPE = {path!r}
def tell(word):
    with open(PIPE, "w") as pipe:
        pipe.write(word)
""".replace("MIB", str(MIB))
HOLDS = "held = torch.zeros(64 << 20, device='cuda')\n"
HELD_MIB = 256
STEP_MIB = 4 + 4
SEGMENTS_MIB = 20 + 2
PURE = "def hang():\n    while True:\n        try:\n            sum(range(1000))\n        except BaseException:\n            print('swallowed')\n"
# A C function that keeps the interpreter's lock; a signal does not end it.
NATIVE = f"{ENDLESS}\ndef hang(word='ready'):\n    wait_in_c(PIPE, word)\n"
SLOW_HANDLER = "def refuse(number, frame):\n    while True: time.sleep(1)\nfor number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, refuse)\n" + PURE
IGNORES = "for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, signal.SIG_IGN)\n" + PURE
STOPPED = "import threading\ndef hang():\n    os.kill(os.getpid(), signal.SIGSTOP)\n    signal.pause()\n"
FORKS = "def hang():\n    for _ in range(3):\n        if os.fork() == 0: signal.pause()\n    signal.pause()\n"


def stop(box: Box, program: str, number: signal.Signals | None, *words, group: bool = False) -> Result:
    """Starts a check of a program, waits for its message, and sends a signal; the report is JSON."""
    path, pipe = ready(box)
    box.write("train.py", TRAINS.format(path=str(path)) + program)
    process = box.start(box.oomph, "check", "--json", "--gpu", "rtx-4090", "--python", box.python, *words, "train.py")
    if number is not None:
        wait_for(pipe)
        (os.killpg if group else os.kill)(process.pid, number)
    result = collect(process)
    os.close(pipe)
    no_noise(result)
    return result


def answers(box: Box, body: str, number: signal.Signals, by: str) -> None:
    """An agent that answers leaves exact counters, the step, the phase and the line."""
    result = stop(box, body + "step()\n" + HOLDS + "tell('ready')\nhang()\n", number)
    report = result.report
    expect(result, result.status, 128 + number, "status")
    expect(result, (report["verdict"], report["steps"]), ("fits_so_far", 1), "verdict and steps")
    expect(result, report["peak"]["allocated_bytes"], (STEP_MIB + HELD_MIB) * MIB, "allocated at the peak")
    check_device(result)
    stopped = report["stop"]
    expect(result, (stopped["by"], stopped["step"], stopped["phase"]), (by, 2, "data"), "stop")
    expect(result, Path(stopped["location"]["file"]).name, "train.py", "file of the stop")


def check_device(result: Result) -> None:
    """The peak on the device: the context, the segments of the step, and the tensor that is held."""
    report = result.report
    expected = report["gpu"]["context_bytes"] + (SEGMENTS_MIB + HELD_MIB) * MIB
    expect(result, report["peak"]["device_bytes"], expected, "peak on the device")


def is_killed(box: Box, number: signal.Signals | None, *words) -> None:
    """An interpreter in an endless C function is killed: the peak on the device comes from the phantom, the line from the stack."""
    program = NATIVE + "step()\n" + HOLDS + "hang()\n"
    result = stop(box, program, number, *words)
    report = result.report
    line = next(at for at, text in enumerate((box.work / "train.py").read_text().splitlines(), 1) if "libc.pclose(" in text)
    expect(result, (report["verdict"], report["steps"]), ("fits_so_far", 1), "verdict and steps")
    check_device(result)
    stopped = report["stop"]
    expect(result, (stopped["step"], stopped["phase"], stopped["location"]["line"]), (2, "data", line), "step, phase and line of the stop")
    contains(result, " ".join(report["notes"]), "was killed: the peak on the device is exact")


def without_step(box: Box) -> None:
    """`--timeout` in a phase without steps: the peak is the program's memory."""
    result = stop(box, PURE + HOLDS + "hang()\n", None, "--timeout", LIMIT_SECONDS)
    report = result.report
    expect(result, (result.status, report["verdict"], report["steps"]), (2, "incomplete", 0), "status, verdict, steps")
    # The parameter has a segment of its own.
    expected = report["gpu"]["context_bytes"] + (20 + HELD_MIB) * MIB
    expect(result, report["peak"]["device_bytes"], expected, "peak on the device")
    expect(result, (report["stop"]["by"], report["stop"]["phase"]), ("timeout", "setup"), "stop")
    contains(result, report["reason"], f"stopped by --timeout after {LIMIT_SECONDS} s")


def before_cuda(box: Box) -> None:
    """Ctrl-C before the first use of a GPU: a sentence with the line."""
    path, pipe = ready(box)
    box.write("train.py", f"import torch, signal\nopen({str(path)!r}, 'w').write('ready'); signal.pause()\n")
    process = box.start(box.oomph, "check", "--python", box.python, "train.py")
    wait_for(pipe)
    process.send_signal(signal.SIGINT)
    result = collect(process)
    os.close(pipe)
    expect(result, (result.status, result.stdout), (130, ""), "status and standard output")
    contains(result, result.stderr, "error: the program was stopped by you (Ctrl-C) after", "before it used CUDA", "train.py:2")
    no_noise(result)


def ran_out(box: Box) -> None:
    """A program with a caught out-of-memory error does not fit, also when stopped later."""
    fails = "try:\n    torch.zeros(1 << 40, device='cuda')\nexcept torch.OutOfMemoryError:\n    pass\n"
    result = stop(box, PURE + "step()\n" + fails + "tell('ready')\nhang()\n", signal.SIGINT)
    expect(result, (result.status, result.report["verdict"]), (130, "oom"), "status and verdict")
    expect(result, result.report["oom"]["requested_bytes"], 4 << 40, "requested bytes")


def in_second_run(box: Box) -> None:
    """A stop in the run without a limit: the verdict of the first run, with a lower bound of the need."""
    grows = "for number in range(99):\n    step()\n    globals()[f'x{number}'] = torch.zeros(1 << 30, device='cuda')\n    if number == 7: tell('more than 24 GiB'); signal.pause()\n"
    result = stop(box, grows, signal.SIGINT, "--steps", "0")
    report = result.report
    expect(result, (result.status, report["verdict"]), (130, "oom"), "status and verdict")
    assert report["need"]["device_bytes"] >= 32 << 30, result
    contains(result, report["need"]["at_least"], "stopped by you (Ctrl-C)")


def ranks(box: Box) -> None:
    """Of two ranks of torchrun one is stuck in a C function: both peaks are known."""
    text = NATIVE + "step()\n" + HOLDS + "if os.environ['RANK'] == '1': hang('1')\ntell('0'), signal.pause()\n"
    path, pipe = ready(box)
    box.write("train.py", TRAINS.format(path=str(path)).replace('"cuda"', "f\"cuda:{os.environ['RANK']}\"") + text.replace("'cuda'", "weight.device"))
    torchrun = (box.python.parent / "torchrun", "--nproc-per-node", "2", "--standalone", "train.py")
    process = box.start(box.oomph, "check", "--json", "--gpu", "rtx-4090", "--gpus", "2", "--", *torchrun)
    told = ""
    while not {"0", "1"} <= set(told):
        told += wait_for(pipe)
    process.send_signal(signal.SIGTERM)
    result = collect(process)
    os.close(pipe)
    report = result.report
    expected = report["gpu"]["context_bytes"] + (SEGMENTS_MIB + HELD_MIB) * MIB
    peaks = [(rank["rank"], rank["peak"]["device_bytes"]) for rank in report["ranks"]]
    expect(result, (result.status, peaks), (143, [(0, expected), (1, expected)]), "status and peaks")


def page_and_file(box: Box) -> None:
    """The page and the file of JSON are written for a stopped program, too."""
    result = stop(box, PURE + "step()\n" + HOLDS + "tell('ready')\nhang()\n", signal.SIGTERM, "--html", "page.html", "--json-file", "report.json")
    expect(result, json.loads((box.work / "report.json").read_text())["stop"]["by"], "terminate", "cause in the file")
    contains(result, (box.work / "page.html").read_text(), "stopped by SIGTERM")


def on_terminal(box: Box) -> None:
    """A closed terminal ends the command: the file has the answer."""
    path, pipe = ready(box)
    box.write("train.py", TRAINS.format(path=str(path)) + PURE + "step()\n" + HOLDS + "tell('ready')\nhang()\n")
    ours, theirs = pty.openpty()
    # The first terminal that the leader of a session opens is that of the session.
    words = ("sh", "-c", 'exec 0<"$1" 1>&0 2>&0; shift; exec "$@"', "sh", os.ttyname(theirs), box.oomph, "check", "--json-file", "report.json", "--gpu", "rtx-4090")
    process = box.start(*words, "--python", box.python, "train.py", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    shown = Shown(ours)
    wait_for(pipe)
    os.close(theirs)
    shown.close()
    status = process.wait()
    report = json.loads((box.work / "report.json").read_text())
    assert (status, report["stop"]["by"]) == (129, "hangup"), (status, report["stop"], shown.text)


class Shown:
    """The output to a terminal, read in a thread: a writer waits for its reader."""

    def __init__(self, terminal: int) -> None:
        self.terminal = terminal
        self.text = b""
        self._over = os.pipe()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        while self._over[0] not in (readable := select.select([self.terminal, self._over[0]], [], [])[0]):
            try:
                self.text += os.read(readable[0], 4096)
            except OSError:
                return

    def close(self) -> None:
        """Closes the terminal."""
        os.write(self._over[1], b"over")
        self._thread.join()
        os.close(self.terminal)


def shows_its_line(box: Box) -> None:
    """A log file gets a line with step, phase, line and memory, also of a program in a C function."""
    path, pipe = ready(box)
    box.write("train.py", TRAINS.format(path=str(path)) + NATIVE + "step()\n" + HOLDS + "hang()\n")
    process = box.start(box.oomph, "check", "--gpu", "rtx-4090", "--python", box.python, "train.py")
    line = process.stderr.readline().decode()
    # The context of an RTX 4090 and the segments.
    while "train.py:" not in line or "step 2" not in line:
        line = process.stderr.readline().decode()
        assert line, "no line of progress"
    process.send_signal(signal.SIGINT)
    result = collect(process)
    os.close(pipe)
    found = re.fullmatch(r"oomph: running on the phantom GPU: step 2, data, train.py:\d+, (.*) in use, peak (.*), \d+ s so far\n", line)
    assert found and found[1] == found[2], line
    expect(result, result.status, 130, "status")


def fit_in_first_run(box: Box) -> None:
    """A stop in the first dry run of a search: the memory of the unchanged program so far."""
    path, pipe = ready(box)
    box.write("train.py", TRAINS.format(path=str(path)) + PURE + "step()\n" + HOLDS + "tell('ready')\nhang()\n")
    process = box.start(box.oomph, "fit", "--json", "--gpu", "rtx-4090", "--python", box.python, "train.py")
    wait_for(pipe)
    process.send_signal(signal.SIGINT)
    result = collect(process)
    os.close(pipe)
    report = result.report
    expect(result, (result.status, report["verdict"], report["interrupted"]), (130, "unknown", True), "status, verdict, whether it was stopped")
    expect(result, report["before"]["allocated_bytes"], (STEP_MIB + HELD_MIB) * MIB, "allocated at the peak")
    expect(result, (report["stop"]["step"], report["stop"]["by"]), (2, "interrupt"), "stop")


def tune_in_recording(box: Box) -> None:
    """A stopped recording: a sentence with the memory so far."""
    path, pipe = ready(box)
    box.write("train.py", TRAINS.format(path=str(path)) + PURE + "step()\n" + HOLDS + "tell('ready')\nhang()\n")
    process = box.start(box.oomph, "tune", "--gpu", "rtx-4090", "--", box.python, "train.py")
    wait_for(pipe)
    process.send_signal(signal.SIGTERM)
    result = collect(process)
    os.close(pipe)
    expect(result, (result.status, result.stdout), (143, ""), "status and standard output")
    contains(result, result.stderr, "error: the recording was stopped by SIGTERM after", "at step 2, data", "MiB so far; no setting was replayed")


def by_timeout_command(box: Box) -> None:
    """`timeout` signals the command and then its group: both are one request."""
    path, pipe = ready(box)
    box.write("train.py", TRAINS.format(path=str(path)) + PURE + "step()\n" + HOLDS + "tell('ready')\nhang()\n")
    words = ("timeout", "--signal", "INT", "600", box.oomph, "check", "--json", "--gpu", "rtx-4090", "--python", box.python, "train.py")
    process = box.start(*words)
    wait_for(pipe)
    # As at the end of its time.
    process.send_signal(signal.SIGALRM)
    result = collect(process)
    os.close(pipe)
    expect(result, (result.status, result.report["stop"]["by"]), (124, "interrupt"), "status and cause")
    check_device(result)


CASES = [
    Case("Ctrl-C in a loop that swallows it", lambda box: answers(box, PURE, signal.SIGINT, "interrupt")),
    Case("SIGTERM with a handler that never ends", lambda box: answers(box, SLOW_HANDLER, signal.SIGTERM, "terminate")),
    Case("SIGHUP in a program that ignores other signals", lambda box: answers(box, IGNORES, signal.SIGHUP, "hangup"), is_extra=True),
    Case("Ctrl-C at a stopped program", lambda box: answers(box, STOPPED, signal.SIGINT, "interrupt"), is_extra=True),
    Case("Ctrl-C at a program with children", lambda box: answers(box, FORKS, signal.SIGINT, "interrupt"), is_extra=True),
    Case("Ctrl-C in a C function", lambda box: is_killed(box, signal.SIGINT)),
    Case("--timeout in a C function", lambda box: is_killed(box, None, "--timeout", LIMIT_SECONDS), is_extra=True),
    Case("--timeout before the first step", without_step),
    Case("Ctrl-C before CUDA", before_cuda),
    Case("Ctrl-C after a caught error", ran_out),
    Case("Ctrl-C in the run without a limit", in_second_run),
    Case("a stuck rank", ranks),
    Case("page and file", page_and_file, is_extra=True),
    Case("a closed terminal", on_terminal),
    Case("progress in a log file", shows_its_line),
    Case("the first run of a search", fit_in_first_run),
    Case("the recording of tune", tune_in_recording),
    Case("timeout in front", by_timeout_command),
]
