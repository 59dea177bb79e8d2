"""Runs each program of `cases.py` on a phantom GPU, and holds what `oomph explain` says of it against what it has.

    python tests/causes/check.py --oomph target/release/oomph

1. The error's text alone names the right rule first, where a text can decide.
2. The snapshot names it first, at a line that is to blame; where the snapshot is blind to it, together with the text.
3. Of the control it is not said.
4. The peaks are `torch.cuda.max_memory_allocated()` and `max_memory_reserved()`, as the program prints them, to the
   byte, and the parts of every breakdown add up.
5. The texts name their rule first, and where there is no error, nothing is found.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True

from cases import PROGRAMS, TEXTS, Program

HERE = Path(__file__).resolve().parent
MARK = "# the cause"
WORKERS = 2
PATIENCE = 120


class Bench:
    """Where programs are run and explained."""

    def __init__(self, oomph: Path, folder: Path) -> None:
        self.oomph = oomph
        self.folder = folder
        theirs = ("OOMPH_", "PYTORCH_", "CUDA_", "RANK", "WORLD_SIZE")
        plain = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
        self.environment = plain | {"OOMPH_CACHE_DIR": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}

    def record(self, script: Path, program: Program) -> "Recording":
        """Runs every rank of a program in a folder of its own."""
        folder = self.folder / script.parent.name / script.stem
        folder.mkdir(parents=True)
        ranks = [self._run(script, program, folder, rank) for rank in range(program.ranks or 1)]
        return Recording(script, folder, [_peaks(done.stdout) for done in ranks], "".join(done.stderr for done in ranks))

    def _run(self, script: Path, program: Program, folder: Path, rank: int) -> subprocess.CompletedProcess:
        phantom = (self.oomph, "phantom", "--gpu", "rtx-4090", "--vram", program.vram, "--gpus", max(1, program.ranks))
        command = [str(word) for word in (*phantom, "--", sys.executable, script)]
        environment = self.environment | {"RANK": str(rank)}
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE)

    def explain(self, *inputs: Path, status: int | None = None) -> dict:
        """What `explain --json` says."""
        command = [str(word) for word in (self.oomph, "explain", "--json", *inputs)]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        expected = (0, 1) if status is None else (status,)
        assert done.returncode in expected, f"exit status {done.returncode}, expected {expected}: {done.stderr}{done.stdout}"
        return json.loads(done.stdout)


class Recording:
    """What a run of a program left."""

    def __init__(self, script: Path, folder: Path, peaks: list[tuple[int, int] | None], errors: str) -> None:
        self.script = script
        self.peaks = peaks
        self.snapshots = sorted(folder.glob("*.pickle"))
        self.log = folder / "errors.log"
        self.log.write_text(errors, encoding="utf-8")
        assert None not in peaks and len(self.snapshots) == len(peaks), f"{script} left no snapshot:\n{errors}"

    @property
    def ran_out(self) -> bool:
        """Whether an error ended it."""
        return "OutOfMemoryError" in self.log.read_text(encoding="utf-8")

    def input(self) -> Path:
        """What is explained: the snapshot, or the folder of a job's snapshots."""
        return self.snapshots[0] if len(self.snapshots) == 1 else self.snapshots[0].parent


def _peaks(output: str) -> tuple[int, int] | None:
    """What the program says of itself, allocated and reserved."""
    lines = [line.split() for line in output.splitlines() if line.startswith("peak ")]
    return (int(lines[-1][1]), int(lines[-1][2])) if lines else None


def check_program(bench: Bench, program: Program) -> str:
    """Everything about a program and its control; gives what was found, for the table."""
    run = bench.record(HERE / "programs" / f"{program.name}.py", program)
    assert run.ran_out == bool(program.text), f"the program {'ran' if run.ran_out else 'did not run'} out of memory"
    text = text_alone(bench, program, run) if program.text else "-"
    report = bench.explain(run.input(), *([run.log] if program.needs_text else []))
    exact(bench, run)
    assert_first(report, (program.rule,))
    blamed(report, run.script)
    if program.text:
        assert_first(bench.explain(run.input(), run.log, status=1), (program.rule,))
    control(bench, program)
    return f"{text:28}{program.rule:28}{run.peaks[0][0]:14,}{run.peaks[0][1]:14,}"


def text_alone(bench: Bench, program: Program, run: Recording) -> str:
    """What is said of the error's text."""
    report = bench.explain(run.log, status=1)
    assert_first(report, program.text)
    assert report["ooms"], "no error was found in the text"
    return report["findings"][0]["rule"]


def control(bench: Bench, program: Program) -> None:
    """The control runs to its end, and has not the cause."""
    run = bench.record(HERE / "controls" / f"{program.name}.py", program)
    report = bench.explain(run.input())
    exact(bench, run)
    found = [finding["rule"] for finding in report["findings"]]
    assert program.rule not in found, f"the control is said to have {found}"


def exact(bench: Bench, run: Recording) -> None:
    """Each snapshot's peaks are the program's own, and parts add up to their whole."""
    for snapshot, peaks in zip(run.snapshots, run.peaks, strict=True):
        report = bench.explain(snapshot)
        peak = report["peak"]
        found = peak["allocated_bytes"], peak["reserved_bytes"]
        assert found == peaks, f"{snapshot}: the peaks are {found}, the program says {peaks}"
        assert peak["whole"], f"{snapshot}: the history is said to be cut"
        parts = sum(part["bytes"] for part in report["breakdown"])
        assert parts == peaks[0], f"{snapshot}: the parts add up to {parts}, not {peaks[0]}"


def assert_first(report: dict, rules: tuple[str, ...]) -> None:
    """One of `rules` comes first."""
    found = [finding["rule"] for finding in report["findings"]]
    assert found[:1] and found[0] in rules, f"expected {' or '.join(rules)} first, found {found}\n{_told(report)}"


def blamed(report: dict, script: Path) -> None:
    """The line of the first finding is one that is marked, if any is."""
    lines = script.read_text(encoding="utf-8").splitlines()
    marked = {number for number, line in enumerate(lines, 1) if MARK in line}
    location = report["findings"][0]["location"]
    found = (Path(location["file"]).name, location["line"]) if location else None
    expected = {(script.name, line) for line in marked} or {None}
    assert found in expected, f"blamed is {found}, expected one of {sorted(expected, key=str)}\n{_told(report)}"


def _told(report: dict) -> str:
    return "\n".join(f"  {finding['rule']}: {finding['message']}" for finding in report["findings"])


def check_text(bench: Bench, name: str, rule: str | None) -> str:
    """What is said of a text first; of one without an error, nothing."""
    report = bench.explain(HERE / "texts" / f"{name}.txt", status=0 if rule is None else 1)
    if rule is None:
        assert not report["ooms"], f"found in a text without an error: {report['ooms']}"
        return f"{'-':28}"
    assert_first(report, (rule,))
    return f"{rule:28}"


def main() -> int:
    """Checks the cases whose names hold one of the given words; exit status 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oomph", type=Path, required=True, help="the binary")
    parser.add_argument("words", nargs="*", metavar="WORD", help="check only the cases whose names hold one of these")
    arguments = parser.parse_args()
    jobs = [(program.name, check_program, (program,)) for program in PROGRAMS]
    jobs += [(f"{name}.txt", check_text, (name, rule)) for name, rule in TEXTS.items()]
    jobs = [job for job in jobs if not arguments.words or any(word in job[0] for word in arguments.words)]
    print(f"{'':8}{'':8}  {'program':28}{'from the text':28}{'from the snapshot':28}{'allocated':>14}{'reserved':>14}")
    with tempfile.TemporaryDirectory(prefix="oomph-causes-") as folder, ThreadPoolExecutor(WORKERS) as pool:
        bench = Bench(arguments.oomph.absolute(), Path(folder))
        failures = sum(pool.map(lambda job: _failed(bench, *job), jobs))
    print(f"{len(jobs) - failures} passed, {failures} failed")
    return 1 if failures or not jobs else 0


def _failed(bench: Bench, name: str, check, arguments: tuple) -> bool:
    started = time.perf_counter()
    try:
        outcome, detail = "ok", check(bench, *arguments)
    except AssertionError as failure:
        outcome, detail = "FAILED", f"\n{failure}\n"
    except Exception:
        outcome, detail = "FAILED", f"\n{traceback.format_exc()}"
    print(f"{outcome:8}{time.perf_counter() - started:6.1f} s  {name:28}{detail}", flush=True)
    return outcome != "ok"


if __name__ == "__main__":
    sys.exit(main())
