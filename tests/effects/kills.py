"""Ends `oomph check` at random instants, and checks the remains and the report.

    python tests/effects/kills.py --oomph target/release/oomph [--count 1000] [--seed 0] [--jobs 1]

The program overwrites, appends to, removes and makes files, loads its data with workers, and needs more memory in every step. It writes its
reserved memory to a pipe. oomph gets SIGKILL, SIGTERM or SIGINT after a random time. Afterwards the files are as before, no process
and no folder is left, and after SIGTERM and SIGINT the report has the last peak of the pipe, or the peak after one more request. `EFFECTS_GUARD=functions` chooses the other guard, as for `check.py`.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
MARK = "KILLS_TEST"
# The words in front of a command without namespaces.
GUARD = [sys.executable, Path(__file__).with_name("without_namespaces.py")] if os.environ.get("EFFECTS_GUARD") == "functions" else []
# Seconds for the start of the program and some steps, and for the removal of all remains.
LONGEST = 12.0
CLEANED = 30.0
HELD = 32 << 20
PROGRAM = f"""
import os, torch
pipe = os.open("told", os.O_WRONLY)
class Rows(torch.utils.data.Dataset):
    def __len__(self): return 1 << 30
    def __getitem__(self, index):
        if index % 50 == 0: open("by-worker.txt", "a").write("row\\n")
        return torch.zeros(8)
if __name__ == "__main__":
    open("mine.txt", "w").write("of the program")
    open("log.txt", "a").write("of the program")
    os.remove("gone.txt")
    os.makedirs("new", exist_ok=True)
    weight = torch.nn.Parameter(torch.zeros(8, 8, device="cuda"))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    held = []
    for rows in torch.utils.data.DataLoader(Rows(), batch_size=64, num_workers=2):
        optimizer.zero_grad()
        (rows.cuda() @ weight).sum().backward()
        optimizer.step()
        if len(held) < 500:
            held.append(torch.zeros({HELD}, dtype=torch.uint8, device="cuda"))
        torch.save(weight, f"new/{{len(held) % 5}}.pt")
        os.write(pipe, b"%d\\n" % torch.cuda.memory_reserved())
"""


@dataclass
class Ended:
    """An ended command."""

    number: signal.Signals
    status: int
    stdout: str
    stderr: str
    # The reserved bytes on the pipe.
    figures: list[int]


def main() -> int:
    """Exit status 1 if anything is left, or a report is missing or wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oomph", type=Path, default=ROOT / "target/release/oomph")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    moments = [(chance.choice(SIGNALS), chance.uniform(0, LONGEST)) for _ in range(arguments.count)]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        outcomes = list(pool.map(lambda it: try_once(arguments.oomph.absolute(), *it), enumerate(moments)))
    problems = [problem for problem, _ in outcomes if problem]
    reports = sum(has_report for _, has_report in outcomes)
    print("\n".join(problems))
    print(f"{len(outcomes)} ended, {reports} reports, {len(problems)} problems")
    return 1 if problems else 0


def try_once(oomph: Path, index: int, moment: tuple[signal.Signals, float]) -> tuple[str | None, bool]:
    """The problem of one end, and whether there was a report."""
    number, after = moment
    with tempfile.TemporaryDirectory(prefix="oomph-kills-", ignore_cleanup_errors=True) as folder:
        try:
            ended = end_after(oomph, Path(folder), f"{os.getpid()}-{index}", number, after)
        except AssertionError as error:
            problem, has_report = str(error), False
        else:
            problem, has_report = find_problem(ended), bool(ended.stdout)
    print(f"{index}: {number.name} after {after:.2f} s: {problem or 'good'}", flush=True)
    return problem and f"{index}: {number.name} after {after:.2f} s: {problem}", has_report


def end_after(oomph: Path, folder: Path, mark: str, number: signal.Signals, after: float) -> Ended:
    """Starts a check, ends the command, and checks the remains."""
    work, temporary = folder / "work", folder / "tmp"
    for place in (work, temporary):
        place.mkdir()
    for name in ("mine.txt", "log.txt", "gone.txt"):
        (work / name).write_text(f"{name} of the user\n")
    (work / "train.py").write_text(PROGRAM)
    os.mkfifo(work / "told")
    figures, reader = [], os.open(work / "told", os.O_RDWR)
    before = snapshot(work)
    over = threading.Event()
    listener = threading.Thread(target=listen, args=(reader, figures, over), daemon=True)
    listener.start()
    words = [*GUARD, oomph, "check", "--json", "--steps", "0", "--gpu", "rtx-4090", "--python", sys.executable, "train.py"]
    environment = {**os.environ, MARK: mark, "TMPDIR": str(temporary)}
    process = subprocess.Popen(list(map(str, words)), cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        time.sleep(after)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=120)
        await_cleaning(work, temporary, mark, before)
    finally:
        process.kill()
        # The end of the pipe.
        over.set()
        os.write(reader, b"\n\n")
        listener.join()
        os.close(reader)
    return Ended(number, process.returncode, stdout, stderr, figures)


def listen(reader: int, figures: list[int], over: threading.Event) -> None:
    """Reads the figures; all figures of a dead program are in the pipe before `over`."""
    text = b""
    while not (over.is_set() and text.endswith(b"\n\n")):
        text += os.read(reader, 1 << 16)
        figures[:] = [int(line) for line in text.split(b"\n")[:-1] if line]


def await_cleaning(work: Path, temporary: Path, mark: str, before: dict) -> None:
    """Waits for the removal of all remains, by the watchdog after SIGKILL."""
    deadline = time.monotonic() + CLEANED
    while True:
        left = [f"process {pid}" for pid in list_processes(mark)] + [str(path) for path in temporary.iterdir()]
        after = snapshot(work)
        left += [f"{name}: changed" for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
        if not left:
            return
        assert time.monotonic() < deadline, f"left after {CLEANED} s: {', '.join(left)}"
        time.sleep(0.05)


def find_problem(ended: Ended) -> str | None:
    """The first mistake in the answer."""
    if ended.number == signal.SIGKILL:
        return None if ended.status == -signal.SIGKILL else f"status {ended.status}"
    if "panicked" in ended.stderr or "Traceback" in ended.stderr:
        return ended.stderr
    # The first instants of a process are before its handlers.
    if ended.status not in (128 + ended.number, *([] if ended.figures else [-ended.number])):
        return f"status {ended.status}: {ended.stderr}"
    if not ended.figures:
        return None
    if not ended.stdout:
        return f"no report: {ended.stderr}"
    report = json.loads(ended.stdout)
    peak, last = report["peak"]["reserved_bytes"], ended.figures[-1]
    if peak not in (last, last + HELD):
        return f"the peak is {peak}, the pipe has {last}"
    return None if report["stop"] else "the report does not say that the program was stopped"


def snapshot(folder: Path) -> dict[str, tuple]:
    """The files of a folder, by kind and content."""
    return {str(path.relative_to(folder)): describe(path) for path in folder.rglob("*")}


def describe(path: Path) -> tuple:
    if path.is_fifo() or path.is_dir():
        return (path.is_dir(),)
    try:
        return (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mode)
    except FileNotFoundError:
        return ("gone",)


def list_processes(mark: str) -> list[int]:
    """The living processes that have the mark in their environment."""
    entry = f"{MARK}={mark}".encode()
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and entry in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
        except OSError:
            continue
    return found


if __name__ == "__main__":
    sys.exit(main())
