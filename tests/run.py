"""Runs the suites of the repository from one queue: no core is idle while a suite drains, and a failing suite keeps no other suite from running.

    python3 tests/run.py --oomph target/debug/oomph                       the cases of `make test`
    python3 tests/run.py --oomph target/debug/oomph --all                 all cases
    python3 tests/run.py --oomph target/debug/oomph --kind deaths top     some suites; `--list` names them
    python3 tests/run.py --oomph target/debug/oomph --kind deaths -- kill some cases, by words of their names
    python3 tests/run.py --oomph target/debug/oomph --failed              the suites that failed in the last run
    python3 tests/run.py --keep-times                                     keeps the last run's times (tests/times.py)

A suite is a script (tests/README.md), started by the Python under test. Suites alive: the number of slots and one more. A case starts
when a shared slot is free (tests/slots.py). Cases to be run alone come at the end. The last lines name all failed cases.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True

import slots
import suite
import times

ROOT = Path(__file__).resolve().parents[1]
FAILED = ROOT / "target" / "tests" / "failed.json"
# Room for recordings and snapshots of the cases.
LEAST_FREE_GIB = 4
PAUSE = 0.1


@dataclass(frozen=True)
class Kind:
    """A suite: the words of the command line, with names of paths in braces."""

    words: tuple[str, ...]
    # More words with `--all`.
    more: tuple[str, ...] = ()
    # Runs programs without `suite.run`: takes a slot as a whole.
    is_whole: bool = False
    # Has cases, with names and `--all`.
    has_cases: bool = False
    # `EFFECTS_GUARD` of tests/effects.
    guard: str = ""


def check(script: str, *words: str, python: str = "{python}", more: tuple[str, ...] = (), **options) -> Kind:
    """A script with the options of `suite.parser`."""
    return Kind((python, f"tests/{script}", "--oomph", "{oomph}", *words), more=("--all", *more), has_cases=True, **options)


# Long suites first: the end of the queue is short cases.
KINDS = {
    "system": check("system/run.py"),
    "remedies": check("remedies/check.py", more=("--frameworks", "{frameworks}")),
    "weights": check("weights/check.py", python="{frameworks}"),
    "zoo": check("zoo/check.py"),
    "patched": check("remedies/patched.py", "--patch", "{examples}/patch", more=("--python", "{frameworks}")),
    "frameworks": check("frameworks/check.py", python="{frameworks}"),
    "agent": check("agent/check.py"),
    # Under either guard: the last lines name a guard that the machine cannot run.
    "effects": check("effects/check.py", guard="namespace"),
    "effects-functions": check("effects/check.py", guard="functions"),
    "fits": check("fits/check.py"),
    "plans": check("plans/check.py"),
    "lives": check("lives/check.py"),
    "lives-frameworks": check("lives/check.py", "--half", "frameworks", python="{frameworks}"),
    "blame": check("blame/check.py"),
    "leaks": check("leaks/check.py"),
    "sweeps": check("sweeps/check.py"),
    "validation": check("validation/compare.py"),
    "notebook": check("notebook/check.py", python="{frameworks}"),
    "causes": check("causes/check.py"),
    "services": check("services/check.py", python="{services}"),
    "retry": check("retry/check.py"),
    "deaths": check("deaths/check.py"),
    "caught": check("caught/check.py"),
    "crosscheck": check("crosscheck/check.py"),
    "mistakes": check("lint/check.py", more=("--frameworks", "{frameworks}"), is_whole=True),
    "differential": check("differential/check.py", "--golden", "{examples}/golden"),
    "values": check("values/check.py"),
    "captures": check("captures/check.py"),
    "compiled": check("compiled/check.py"),
    "hooks": check("hooks/check.py"),
    "limits": check("limits/check.py"),
    "live": check("live/check.py"),
    "top": check("top/check.py"),
    "python-api": check("python_api/check.py", python="{frameworks}"),
    "mcp": check("mcp/check.py", python="{services}"),
    "against": check("against/check.py"),
    "lsp": check("lsp/check.py", python="{services}"),
    "ci": check("ci/check.py", python="{services}"),
    "trackers": check("trackers/check.py", python="{services}"),
    "messages": check("messages/check.py"),
    "packaging": check("packaging/check.py"),
    "golden": Kind(("{examples}/golden", "{golden}"), is_whole=True),
    "validation-tests": Kind(("{python}", "-m", "unittest", "discover", "-s", "tests/validation", "-t", "tests/validation", "-q"), is_whole=True),
}


@dataclass
class Running:
    """A living process of a suite."""

    process: subprocess.Popen
    whole: slots.Slots | None


class Queue:
    """Waiting and running suites."""

    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        self.arguments, self.folder = arguments, folder
        for number in range(arguments.jobs):
            (folder / f"slot{number}").touch()
        self.running: dict[str, Running] = {}
        self.failed: list[str] = []

    def run(self, names: list[str], round_name: str, together: int) -> None:
        """Runs suites, `together` at once."""
        waiting = list(names)
        while waiting or self.running:
            while waiting and len(self.running) < together:
                self.start(waiting.pop(0), round_name)
            ended = [name for name, one in self.running.items() if one.process.poll() is not None]
            for name in ended:
                self.end(name)
            if not ended:
                time.sleep(PAUSE)

    def start(self, name: str, round_name: str) -> None:
        """Starts a suite; the suite waits for slots."""
        kind = KINDS[name]
        variables = {slots.FOLDER: str(self.folder), slots.ROUND: round_name, slots.KIND: name, "EFFECTS_GUARD": kind.guard}
        whole = None
        if kind.is_whole:
            whole = slots.Slots(1, self.folder)
            whole.take(waits=True)
        self.running[name] = Running(subprocess.Popen(self.command(kind), cwd=ROOT, env=os.environ | {"OOMPH_AGENT": "0"} | variables), whole)

    def command(self, kind: Kind) -> list[str]:
        """The words of a suite's command line."""
        oomph = self.arguments.oomph.absolute()
        paths = {
            "python": ROOT / ".venv/bin/python", "frameworks": ROOT / "target/frameworks/bin/python",
            "services": ROOT / "target/services/bin/python", "oomph": oomph,
            "examples": oomph.parent / "examples",
        }  # fmt: skip
        golden = sorted((ROOT / "crates/trace/tests/golden").glob("*.json.gz"))
        words = [*kind.words, *(kind.more if self.arguments.all else ())]
        line = [str(path) for word in words for path in (golden if word == "{golden}" else [word.format(**paths)])]
        return [*line, *self.arguments.words]

    def end(self, name: str) -> None:
        """Notes the result of a suite."""
        one = self.running.pop(name)
        if one.whole:
            one.whole.put_back()
        if one.process.returncode:
            print(f"{name}: FAILED with status {one.process.returncode}", flush=True)
            self.failed.append(name)

    def interrupt(self) -> None:
        """Ends all suites, with their cases."""
        for one in self.running.values():
            one.process.send_signal(signal.SIGINT)
        for one in self.running.values():
            one.process.wait()


def main() -> int:
    """Exit status 1 if a suite fails, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oomph", type=Path, default=ROOT / "target/debug/oomph", help="the binary [default: %(default)s]")
    parser.add_argument("--all", action="store_true", help="also the cases that are left to `make test-all`")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many cases run at once [default: one for each core]")
    parser.add_argument("--kind", nargs="+", choices=KINDS, metavar="KIND", help="only these suites")
    parser.add_argument("--failed", action="store_true", help="only the suites that failed in the last run")
    parser.add_argument("--list", action="store_true", help="name the suites")
    parser.add_argument("--keep-times", action="store_true", help="keep the times of the last run in tests/times.json, run nothing")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only the cases whose names hold one of these")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(KINDS))
        return 0
    if arguments.keep_times:
        times.keep(suite.read_times())
        return 0
    free = shutil.disk_usage(ROOT).free / (1 << 30)
    if free < LEAST_FREE_GIB:
        print(f"{ROOT}: {free:.1f} GiB of disk are free, and the cases need {LEAST_FREE_GIB}")
        return 1
    return run_queue(arguments, choose(arguments))


def choose(arguments: argparse.Namespace) -> list[str]:
    """The suites to run."""
    if arguments.failed:
        return json.loads(FAILED.read_text(encoding="utf-8")) if FAILED.exists() else []
    names = arguments.kind or list(KINDS)
    return [name for name in names if KINDS[name].has_cases or not arguments.words]


def run_queue(arguments: argparse.Namespace, names: list[str]) -> int:
    """Runs suites side by side, then the cases to be run alone."""
    suite.TIMES.unlink(missing_ok=True)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="oomph-queue-") as folder:
        queue = Queue(arguments, Path(folder))
        suite.heed_signals()
        try:
            queue.run(names, "shared", arguments.jobs + 1)
            together = time.perf_counter() - began
            alone = [name for name in names if (Path(folder) / f"alone-{name}").exists()]
            queue.run(alone, "alone", 1)
        except KeyboardInterrupt:
            queue.interrupt()
            print("interrupted")
            return 128 + signal.SIGINT
    return conclude(queue.failed, together, time.perf_counter() - began, arguments.jobs)


def conclude(failed: list[str], together: float, elapsed: float, jobs: int) -> int:
    """Prints the totals, and keeps the names of failed suites."""
    suite.main()
    outcomes = suite.read_times()
    busy = sum(outcome.elapsed for outcome in outcomes)
    print(f"\n{elapsed:.0f} s, {together:.0f} s of them side by side; cases took {busy:.0f} s of {jobs * elapsed:.0f} s of {jobs} slots")
    cases = [f"{outcome.suite}: {outcome.case}" for outcome in outcomes if outcome.word == "FAILED"]
    print("".join(f"skipped {outcome.suite}: {outcome.case} {outcome.detail}\n" for outcome in outcomes if outcome.word == "skipped"), end="")
    print("\n".join(f"FAILED {case}" for case in cases))
    FAILED.parent.mkdir(parents=True, exist_ok=True)
    FAILED.write_text(json.dumps(sorted(set(failed))), encoding="utf-8")
    print("".join(f"{line}\n" for line in times.list_longer(times.read_kept(), times.collect(outcomes))), end="")
    ended_well, left_open = (sum(outcome.word == word for outcome in outcomes) for word in ("ok", "open"))
    print(f"suites that failed: {', '.join(sorted(set(failed))) or 'none'}\n{ended_well} passed, {len(cases)} failed, {left_open} open", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
