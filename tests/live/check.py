"""Metrics, snapshots and `explain --pid` of a program that runs under `oomph run`.

    python tests/live/check.py --oomph target/debug/oomph [WORD ...]

A phantom GPU stands for the real one. The sizes are those of `grows.py`, by arithmetic.
"""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import documents
import suite

PATIENCE = 120
MIB = 1 << 20
# Weights and gradients of 64 MiB each, and 8 MiB of each step.
STANDING, STEP = 128 * MIB, 8 * MIB


def main() -> int:
    """Exit status 1 if a figure is wrong, or the program is disturbed."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = arguments.oomph.absolute()
    bodies = [look, write_file, serve, take_snapshots, refuse, leave_a_full_disk, end_with_a_signal]
    return suite.run("live", [suite.Case(body.__doc__.splitlines()[0], partial(body, oomph)) for body in bodies], arguments)


class Running:
    """A program under `oomph run`, in a folder of its own."""

    def __init__(self, oomph: Path, folder: Path, *options: str, program: Path = HERE / "grows.py") -> None:
        self.folder, self.saved = folder, folder / "run"
        command = [oomph, "phantom", "--gpu", "rtx-3060", "--vram", "4GiB", "--", oomph, "run", "--save", self.saved, *options, "--", sys.executable, program]
        self.errors = open(folder / "stderr", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            list(map(str, command)), stdout=subprocess.PIPE, stderr=self.errors, text=True, cwd=folder, preexec_fn=_heed_interrupts
        )

    def wait_for_step(self, step: int) -> None:
        """Waits until the program waits."""
        line = self.process.stdout.readline()
        assert line == f"waits {step}\n", f"{line!r}: {self.stderr()}"

    def go(self, step: int) -> None:
        """Lets the program go on."""
        (self.folder / f"go{step}").touch()

    def end(self) -> str:
        """Lets the program end well; returns what oomph said."""
        for step in (8, 12):
            self.go(step)
        self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, f"status {self.process.returncode}: {self.stderr()}"
        return self.stderr()

    def stderr(self) -> str:
        """What stands on standard error by now."""
        return (self.folder / "stderr").read_text(encoding="utf-8")


@contextlib.contextmanager
def running(oomph: Path, *options: str) -> Iterator[Running]:
    """A running program; it is ended with the context."""
    with tempfile.TemporaryDirectory(prefix="oomph-live-") as folder:
        run = Running(oomph, Path(folder), *options)
        try:
            yield run
        finally:
            if run.process.poll() is None:
                run.process.terminate()
                run.process.communicate(timeout=PATIENCE)
            run.errors.close()


def until(condition: Callable[[], object], what: str) -> object:
    """Polls until a condition holds; returns its value."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError(f"not within {PATIENCE} s: {what}")


def oomph_says(oomph: Path, *words: object, cwd: Path | None = None) -> subprocess.CompletedProcess:
    """Runs a command of oomph to its end."""
    return subprocess.run(list(map(str, [oomph, *words])), capture_output=True, text=True, timeout=PATIENCE, cwd=cwd)


def look(oomph: Path) -> str:
    """`explain --pid` states what the program holds, by line"""
    with running(oomph) as run:
        run.wait_for_step(8)
        children = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children").read_text().split()
        for pid in (run.process.pid, *children):
            done = oomph_says(oomph, "explain", "--pid", pid)
            headline = expect_formats(oomph, pid)
            expect_step(headline, 8)
            first, second, *rows = done.stdout.splitlines()
            assert (done.returncode, first) == (1, headline) and "reserved; at most" in second, f"{done.returncode}: {done.stdout}"
            assert any(re.fullmatch(r" +64\.00 MiB +\d+ %  \S*grows\.py:17 \(8 blocks\)", row) for row in rows), done.stdout
        assert children, "no child"
        run.end()
    return headline


def expect_formats(oomph: Path, pid: object) -> str:
    """The first sentence, the same in every format, since the program waits."""
    report = json.loads(oomph_says(oomph, "explain", "--pid", pid, "--json").stdout)
    documents.hold("now", report)
    (device,) = report["devices"]
    assert report["verdict"] == "growing", report
    assert device["growth_per_step_bytes"] == STEP and device["lines"][0]["bytes"] >= 64 * MIB, device
    for form in ("concise", "github", "markdown"):
        said = oomph_says(oomph, "explain", "--pid", pid, "--format", form)
        assert said.returncode == 1 and report["headline"].split(" (")[0] in said.stdout, f"{form}: {said.stdout}{said.stderr}"
    return report["headline"]


def expect_step(text: str, step: int) -> None:
    """The first line for people, after so many steps: allocated memory, growth, line, and the steps until the device is full."""
    match = re.fullmatch(
        rf"step {step}: (\S+) MiB of 4\.00 GiB allocated; 8\.00 MiB stay of each step \(\S*grows\.py:17\): full in (\d+) steps", text
    )
    assert match, text
    allocated, steps = float(match[1]) * MIB, int(match[2])
    assert 0 <= allocated - (STANDING + step * STEP) < 20 * MIB, text
    # A context takes some hundred MiB of the device.
    assert 0 <= (4 << 30) - allocated - steps * STEP < 1 << 30, text


def write_file(oomph: Path) -> str:
    """--metrics FILE: a line each second, and a last one at the end"""
    with running(oomph, "--metrics", "figures.jsonl") as run:
        path = run.folder / "figures.jsonl"
        read = lambda: [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        run.wait_for_step(8)
        found = until(lambda: [line for line in read() if line["steps"] == 8 and line["devices"]], "step 8")[0]
        device = found["devices"][0]
        assert 0 <= device["allocated_bytes"] - (STANDING + 8 * STEP) < 20 * MIB, device
        assert device["growth_per_step_bytes"] == STEP and device["steps_to_error"] > 300, device
        assert device["total_bytes"] == 4 << 30 and device["alloc_retries"] == 0, device
        run.end()
        lines = read()
    assert [line["ended"] for line in lines] == [False] * (len(lines) - 1) + [True], lines[-2:]
    assert lines[-1]["steps"] == 12 and lines[-1]["rank"] == 0, lines[-1]
    return f"{len(lines)} lines"


def serve(oomph: Path) -> str:
    """--metrics ADDRESS: Prometheus' text, while the program runs"""
    with running(oomph, "--metrics", "127.0.0.1:0") as run:
        run.wait_for_step(8)
        address = re.search(r"metrics at (http://\S+)", run.stderr())[1]
        samples = (
            'oomph_steps_total{rank="0"} 8',
            f'oomph_growth_per_step_bytes{{rank="0",device="0"}} {STEP}',
            f'oomph_device_bytes{{rank="0",device="0"}} {4 << 30}',
        )
        text = until(lambda: read_with(address, samples), f"{samples} in {read_url(address)}")
        try:
            read_url(address.removesuffix("metrics"))
            raise AssertionError("another path has an answer")
        except urllib.error.HTTPError as error:
            assert error.code == 404, error
        # A client that asks for nothing does not keep oomph.
        host, port = address.removeprefix("http://").removesuffix("/metrics").split(":")
        with socket.create_connection((host, int(port))):
            run.end()
        with contextlib.suppress(ConnectionRefusedError):
            socket.create_connection((host, int(port)))
            raise AssertionError("the socket is left")
    return f"{len(text.splitlines())} lines"


def read_url(address: str) -> str:
    """The text at an address."""
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        return answer.read().decode()


def read_with(address: str, samples: tuple[str, ...]) -> str:
    """The text at an address; empty unless it has all samples."""
    text = read_url(address)
    return text if set(samples) <= set(text.splitlines()) else ""


def take_snapshots(oomph: Path) -> str:
    """A signal copies the recording, and the program does not see it"""
    with running(oomph) as run:
        for number, step in ((1, 8), (2, 12)):
            run.wait_for_step(step)
            run.process.send_signal(signal.SIGUSR2)
            until(lambda number=number: f"oomph: snapshot {number} in {run.saved}/snapshots/{number}; " in run.stderr(), "the line")
            run.go(step)
        run.end()
        sizes = []
        for number, step in ((1, 8), (2, 12)):
            folder = run.saved / "snapshots" / str(number)
            done = oomph_says(oomph, "explain", "--json", folder)
            expect_step(json.loads(done.stdout)["headline"], step)
            sizes.append((folder / "rank0.recording").stat().st_blocks * 512)
        assert sorted(path.name for path in folder.parent.iterdir()) == ["1", "2"], list(folder.parent.iterdir())
        assert max(sizes) < 8 * MIB, f"{sizes} bytes of the disk"
    return f"{sizes} bytes"


def _refusal_of_init() -> str:
    """The words about the first process of the machine or the container, by its rights."""
    try:
        Path("/proc/1/environ").read_bytes()
    except PermissionError:
        is_others = os.geteuid() not in (0, Path("/proc/1").stat().st_uid)
        return "process 1 belongs to another user" if is_others else "the system refuses a look at process 1"
    return "process 1 is neither an `oomph run` nor a process under one"


def refuse(oomph: Path) -> str:
    """A wrong process, file, address or signal is an error before the program starts"""
    with tempfile.TemporaryDirectory(prefix="oomph-live-") as folder, socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = ("run", "--metrics")
        cases = [
            ((*run, "missing/figures.jsonl"), "cannot write the figures to `missing/figures.jsonl`: No such file"),
            ((*run, "."), "cannot write the figures to `.`: Is a directory"),
            ((*run, f"127.0.0.1:{port}"), f"cannot listen at 127.0.0.1:{port}: Address already in use"),
            ((*run, "0.0.0.0:9400"), "`0.0.0.0` is not an address of this machine alone"),
            ((*run, ":99999"), "`99999` is not a port; expected 0 to 65535"),
            (("run", "--snapshot-signal", "KILL"), "possible values: USR2, USR1, none"),
            (("explain", "--pid", 2**22 + 1), "there is no process 4194305"),
            (("explain", "--pid", os.getpid()), f"process {os.getpid()} is neither an `oomph run` nor a process under one"),
            (("explain", "--pid", 0), "0 is not in 1.."),
            (("explain", "--pid", 1), _refusal_of_init()),
        ]
        for words, said in cases:
            program = [] if words[0] == "explain" else ["--", sys.executable, "-c", "print('started')"]
            done = oomph_says(oomph, *words, *program, cwd=Path(folder))
            assert (done.returncode, done.stdout) == (2, "") and said in done.stderr, f"{words}: {done.returncode}: {done.stdout}{done.stderr}"
    return f"{len(cases)} refusals"


def leave_a_full_disk(oomph: Path) -> str:
    """A full disk is remarked once, and the program goes on"""
    with running(oomph, "--metrics", "/dev/full") as run:
        run.wait_for_step(8)
        until(lambda: "figures are missing" in run.stderr(), "a remark")
        said = run.end()
    assert said.count("figures are missing in /dev/full: No space left on device") == 1, said
    return said.splitlines()[0]


def end_with_a_signal(oomph: Path) -> str:
    """After a signal the status is the program's, and the last figures are written"""
    with running(oomph, "--metrics", "figures.jsonl", "--snapshot-signal", "none") as run:
        run.wait_for_step(8)
        run.process.send_signal(signal.SIGUSR2)
        run.process.communicate(timeout=PATIENCE)
        lines = (run.folder / "figures.jsonl").read_text().splitlines()
        assert run.process.returncode == 128 + signal.SIGUSR2, f"{run.process.returncode}: {run.stderr()}"
        assert json.loads(lines[-1])["ended"] and not (run.saved / "snapshots").exists(), lines[-1]
    return f"{len(lines)} lines"


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main())
