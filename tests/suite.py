"""Runs the cases of a test suite in parallel, each in its own process, and reports the time of each.

A check script makes a list of `Case` and ends with `sys.exit(suite.run("zoo", cases, arguments))`. Every script then has the same options,
progress lines and last line, and each run is added to `target/tests/times.jsonl`. `python3 tests/suite.py [COUNT]` prints the totals of all
suites in that file and the COUNT slowest cases, by default ten; `make test` ends with this table.

Note [Processes of a suite]
~~~~~~~~~~~~~~~~~~~~~~~~~~~
The runner forks once per case and has a single thread, so a body may change its working directory, environment and memory at will. `wait4`
reports the CPU time of a case together with all processes that it waited for. On a busy machine the CPU time is the figure to compare:
elapsed time measures the neighbours too. A case starts when a slot is free and its `memory` fits into the memory that the machine had left
when the suite began. Ctrl-C ends the cases and every remaining process: the runner is the subreaper of its descendants.

Note [A tenth]
~~~~~~~~~~~~~~
Kinds with many programs would take hours. Without `--all` a run takes a tenth of them (or another share that the kind states), chosen by a
hash of the week and the case's name: the same cases all week, others in the next one, and no list to keep. `OOMPH_TEST_WEEK=2026-W48` repeats
an earlier choice.
"""

import argparse
import contextlib
import ctypes
import datetime
import hashlib
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import slots

ROOT = Path(__file__).resolve().parents[1]
TIMES = ROOT / "target" / "tests" / "times.jsonl"
SLOWEST = 10
WEEK = "OOMPH_TEST_WEEK"
# linux/prctl.h
PR_SET_CHILD_SUBREAPER = 36


class Skip(Exception):
    """The machine does not allow the case; the runner shows the reason."""


@dataclass(frozen=True)
class Case:
    """A check. `body` returns the text to show beside its name, and fails with an `AssertionError` that states the finding."""

    name: str
    body: Callable[[], str | None]
    # GiB of memory at the peak of all processes of the case.
    memory: float = 2
    # True to run alone, because the case needs what another case may take, such as a port.
    is_alone: bool = False
    # Started when all other cases of the suite have ended, because the case compares their results.
    is_last: bool = False
    # Started first, so that the suite does not end with this case alone.
    is_long: bool = False
    # Left to `make test-all`.
    is_extra: bool = False
    # The group of a case of a large kind, such as the cause that its program has. Without `--all` a tenth of these cases runs, and at least
    # one of each group: Note [A tenth].
    group: str = ""
    # The share of such cases.
    share: float = 0.1
    # The reason why the case is known to fail. Such a failure is `open`, and no failure of the suite; a case that holds again fails.
    open: str = ""


@dataclass(frozen=True)
class Outcome:
    """The result of a case."""

    suite: str
    case: str
    # `ok`, `FAILED`, `skipped` or `open`.
    word: str
    elapsed: float
    cpu: float
    detail: str


def parser(description: str) -> argparse.ArgumentParser:
    """A parser with the options of every suite: `--oomph`, `--all`, `--jobs` and words that choose cases."""
    it = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    it.add_argument("--oomph", type=Path, required=True, help="the binary")
    it.add_argument("--all", action="store_true", help="also the cases that are left to `make test-all`")
    it.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many cases run at once [default: one for each core]")
    it.add_argument("words", nargs="*", metavar="WORD", help="only the cases whose names hold one of these, extra ones too")
    return it


def choose(suite: str, cases: list[Case], words: list[str], is_all: bool) -> list[Case]:
    """The cases to run. Words reach all cases."""
    if words:
        return [case for case in cases if any(word in case.name for word in words)]
    if is_all:
        return cases
    drawn = draw(suite, [case for case in cases if case.group])
    return [case for case in cases if not case.is_extra and (not case.group or case.name in drawn)]


def draw(suite: str, cases: list[Case]) -> set[str]:
    """The names of this week's share, with the first of every group."""
    places = {case.name: _place(suite, case.name) for case in cases}
    within = {case.name for case in cases if places[case.name] < case.share}
    firsts = {case.group: case.name for case in sorted(cases, key=lambda case: places[case.name], reverse=True)}
    return within | set(firsts.values())


def _place(suite: str, name: str) -> float:
    """A number from 0 to 1, another one each week."""
    digest = hashlib.sha256(f"{week()} {suite} {name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / (1 << 64)


def week() -> str:
    """The week that the cases of large kinds are drawn for, such as 2026-W48 (ISO 8601)."""
    now = datetime.date.today().isocalendar()
    return os.environ.get(WEEK) or f"{now.year}-W{now.week:02}"


def run(suite: str, cases: list[Case], arguments: argparse.Namespace, heading: str = "") -> int:
    """Runs the chosen cases; exit status 1 if a case fails or none is chosen, 130 after Ctrl-C."""
    names = [case.name for case in cases]
    doubled = sorted({name for name in names if names.count(name) > 1})
    assert not doubled, f"cases share a name: {doubled}"
    chosen = choose(suite, cases, arguments.words, arguments.all)
    left = len(cases) - len(chosen)
    if any(case.is_alone for case in chosen):
        slots.note_alone()
    chosen = [case for case in chosen if not slots.is_left_out(case.is_alone)]
    if heading and not slots.are_shared():
        print(f"{'':42}{heading}", flush=True)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="oomph-suite-", ignore_cleanup_errors=True) as folder:
        try:
            heed_signals()
            outcomes = _Runner(suite, chosen, max(1, arguments.jobs), Path(folder)).run()
        except KeyboardInterrupt:
            print("interrupted")
            return 128 + signal.SIGINT
    if not chosen and slots.ROUND in os.environ:
        return 0
    return conclude(outcomes, left, time.perf_counter() - began)


def conclude(outcomes: list[Outcome], left: int, elapsed: float) -> int:
    """Keeps the times and prints the end of a suite's output; exit status 1 if a case failed or none was run."""
    _keep(outcomes)
    if len(outcomes) > SLOWEST and not slots.are_shared():
        print(f"\nthe {SLOWEST} slowest of {outcomes[0].suite}:")
        _print_slowest(outcomes, SLOWEST)
    failed = [outcome.case for outcome in outcomes if outcome.word == "FAILED"]
    counts = {word: sum(outcome.word == word for outcome in outcomes) for word in ("ok", "FAILED", "skipped", "open")}
    if failed:
        print("failed: " + "; ".join(failed))
    rest = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    rest += f", {counts['open']} open" if counts["open"] else ""
    rest += f", {left} not chosen" if left else ""
    cpu = sum(outcome.cpu for outcome in outcomes)
    before = slots.describe_suite(outcomes[0].suite) if outcomes else ""
    print(f"{before}{counts['ok']} passed, {counts['FAILED']} failed{rest} ({elapsed:.0f} s, {cpu:.0f} s of CPU)", flush=True)
    return 1 if failed or not outcomes else 0


def heed_signals() -> None:
    """Lets SIGTERM end a run as Ctrl-C does, and both in a job that a shell started with SIGINT ignored."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)


class _Runner:
    """The waiting cases, and the running cases by process."""

    def __init__(self, suite: str, cases: list[Case], jobs: int, folder: Path) -> None:
        self.suite, self.folder = suite, folder
        self.slots = slots.Slots(jobs)
        self.waiting = sorted(cases, key=lambda case: (case.is_last, case.is_alone, not case.is_long))
        self.running: dict[int, tuple[Case, float]] = {}
        self.count = len(cases)
        self.free = _available_gib() * 0.9

    def run(self) -> list[Outcome]:
        """Runs all cases; after a failure, no process is left."""
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        outcomes: list[Outcome] = []
        try:
            while self.waiting or self.running:
                while (case := self._next()) is not None and self.slots.take(waits=not self.running):
                    self.waiting.remove(case)
                    self._start(case)
                pid, status, usage = os.wait4(-1, 0)
                if pid in self.running:
                    outcomes.append(self._end(pid, status, usage))
                    show(outcomes[-1], len(outcomes), self.count)
        except BaseException:
            _end_children(self.running)
            raise
        return outcomes

    def _next(self) -> Case | None:
        """A waiting case that may start as soon as a slot is free."""
        if not self.slots.has_own() or any(case.is_alone for case, _ in self.running.values()):
            return None
        used = sum(case.memory for case, _ in self.running.values())
        fitting = (case for case in self.waiting if not self.running or (not case.is_alone and not case.is_last and used + case.memory <= self.free))
        return next(fitting, None)

    def _start(self, case: Case) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        started = time.perf_counter()
        pid = os.fork()
        if pid == 0:
            # Whatever happens, this process must not go on as the runner.
            try:
                _run_body(case, self.folder / str(os.getpid()))
            finally:
                os._exit(1)
        self.running[pid] = case, started

    def _end(self, pid: int, status: int, usage) -> Outcome:
        case, started = self.running.pop(pid)
        self.slots.put_back()
        paths = self.folder / f"{pid}.json", self.folder / f"{pid}.out"
        output = paths[1].read_text(encoding="utf-8", errors="replace") if paths[1].exists() else ""
        if paths[0].exists():
            word, detail = json.loads(paths[0].read_text(encoding="utf-8"))
        else:
            word, detail = "FAILED", f"\nits process ended with {os.waitstatus_to_exitcode(status)}"
        detail += f"\n{output.rstrip()}" if word == "FAILED" and output else ""
        for path in paths:
            path.unlink(missing_ok=True)
        return Outcome(self.suite, case.name, word, time.perf_counter() - started, usage.ru_utime + usage.ru_stime, detail)


def _run_body(case: Case, path: Path) -> None:
    """Runs the body in the case's process, with its output in a file and its result in another."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    output = os.open(path.with_suffix(".out"), os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    result = _result(case)
    sys.stdout.flush()
    sys.stderr.flush()
    made = path.with_suffix(".part")
    made.write_text(json.dumps(result), encoding="utf-8")
    made.rename(path.with_suffix(".json"))


def _result(case: Case) -> tuple[str, str]:
    try:
        detail = case.body() or ""
        return ("FAILED", f"\nholds now: remove `open` ({case.open})") if case.open else ("ok", detail)
    except Skip as reason:
        return "skipped", f"({reason})"
    except AssertionError as failure:
        return ("open", f"({case.open})") if case.open else ("FAILED", f"\n{failure}")
    except Exception:
        return "FAILED", f"\n{traceback.format_exc()}"


def _end_children(running: dict) -> None:
    """Ends the cases, and then all their descendants: orphans become children of this process."""
    for pid in running:
        _signal(pid, signal.SIGTERM)
    for pid in running:
        _reap(pid)
    while children := _children():
        for pid in children:
            _signal(pid, signal.SIGKILL)
            _reap(pid)


def _signal(pid: int, number: signal.Signals) -> None:
    # An interrupt may come between the end of a case and the note of it.
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _reap(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def _children() -> list[int]:
    return [int(word) for word in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def _available_gib() -> float:
    """Linux's figure for the memory that programs can still use."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    (line,) = (line for line in lines if line.startswith("MemAvailable:"))
    return int(line.split()[1]) / (1 << 20)


def show(outcome: Outcome, number: int, count: int) -> None:
    """Prints the line of a case."""
    width = len(str(count))
    times = f"{outcome.elapsed:6.1f} s {outcome.cpu:6.1f} s of CPU"
    before = slots.describe_suite(outcome.suite)
    print(f"{before}{number:{width}}/{count} {outcome.word:8}{times}  {outcome.case:58}{outcome.detail.rstrip()}".rstrip(), flush=True)


def _keep(outcomes: list[Outcome]) -> None:
    """Adds the times to the file that `main` reads, with the reasons of skipped cases."""
    TIMES.parent.mkdir(parents=True, exist_ok=True)
    with TIMES.open("a", encoding="utf-8") as file:
        for outcome in outcomes:
            detail = outcome.detail if outcome.word == "skipped" else ""
            file.write(json.dumps(asdict(outcome) | {"detail": detail}) + "\n")


def _print_slowest(outcomes: list[Outcome], count: int, with_suite: bool = False) -> None:
    for outcome in sorted(outcomes, key=lambda it: -it.elapsed)[:count]:
        name = f"{outcome.suite}: {outcome.case}" if with_suite else outcome.case
        print(f"  {outcome.elapsed:6.1f} s {outcome.cpu:6.1f} s of CPU  {name}")


def read_times() -> list[Outcome]:
    """The results of all suites since the file was removed."""
    lines = TIMES.read_text(encoding="utf-8").splitlines() if TIMES.exists() else []
    return [Outcome(**json.loads(line)) for line in lines]


def main() -> None:
    """The totals of the suites that ran since the file was removed, and the slowest cases of all."""
    outcomes = read_times()
    print(f"{'suite':16}{'cases':>5} {'elapsed, of all cases':>24} {'CPU':>10}")
    for suite in dict.fromkeys(outcome.suite for outcome in outcomes):
        some = [outcome for outcome in outcomes if outcome.suite == suite]
        failed = sum(outcome.word == "FAILED" for outcome in some)
        elapsed, cpu = sum(outcome.elapsed for outcome in some), sum(outcome.cpu for outcome in some)
        print(f"{suite:16}{len(some):5} {elapsed:22.0f} s {cpu:8.0f} s" + (f"  {failed} FAILED" if failed else ""))
    count = int(sys.argv[1]) if len(sys.argv) == 2 and sys.argv[1].isdigit() else SLOWEST
    print(f"\nthe {count} slowest:")
    _print_slowest(outcomes, count, with_suite=True)


if __name__ == "__main__":
    main()
