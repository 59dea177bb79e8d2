"""Runs each program of `cases/` on a phantom GPU and compares the findings of `oomph explain` with the expected ones.

    python tests/causes/check.py --oomph target/release/oomph

1. The error's text alone names the right rule first, if a text can decide.
2. The snapshot names the rule first, at a line marked as the cause; snapshots that do not show the cause are read with the text.
3. The control, which is the same program without the cause, has no findings.
4. The peaks are `torch.cuda.max_memory_allocated()` and `max_memory_reserved()`, as the program prints them, to the
   byte, and the parts of every breakdown add up.
5. The texts name their rule first; texts without an error of PyTorch's have no finding.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import documents
import suite
from case import HERE, PROGRAMS, TEXTS, Program
from forks import Forks
from recording import PATIENCE, Recorder, Recording, plain_environment

MARK = "# the cause"


class Checker:
    """Runs `explain` and collects problems."""

    def __init__(self, oomph: Path) -> None:
        self.oomph = oomph
        self.problems: list[str] = []

    def explain(self, *inputs: Path) -> dict:
        """Returns the report of `explain --json`; the exit status must fit the report."""
        command = [str(word) for word in (self.oomph, "explain", "--json", *inputs)]
        done = subprocess.run(command, env=plain_environment(), capture_output=True, text=True, timeout=PATIENCE)
        shown = " ".join(path.name for path in inputs)
        assert done.returncode in (0, 1, 2) and done.stdout, f"explain {shown} ended with {done.returncode}: {done.stderr}"
        report = documents.read(self.oomph, "explain", done.stdout)
        ooms = report["ooms"] or [device for device in report["devices"] if device["oom"]]
        is_found = bool(ooms) or any(finding["severity"] != "info" for finding in report["findings"])
        # A text without an error and without a table is no input of `explain`.
        is_table = bool(report["cards"] or report["counters"] or report["devices"])
        self.expect(f"the exit status for {shown}", done.returncode, 1 if is_found else 0 if is_table else 2)
        return report

    def expect(self, what: str, found, expected) -> None:
        """Adds a problem if `found` differs from `expected`."""
        if found != expected:
            self.problems.append(f"{what}: {found}, expected {expected}")

    def expect_first(self, source: str, report: dict, rules: tuple[str, ...]) -> None:
        """Checks that one of `rules` comes first."""
        found = [finding["rule"] for finding in report["findings"]]
        if not found or found[0] not in rules:
            findings = "".join(f"\n      {finding['rule']}: {finding['message']}" for finding in report["findings"])
            self.problems.append(f"{source}: expected {' or '.join(rules)} first, found {found}{findings}")

    def expect_blame(self, report: dict, rule: str, script: Path) -> None:
        """The finding of `rule` is at a marked line; without marked lines it has no line."""
        lines = script.read_text(encoding="utf-8").splitlines()
        marked = {(script.name, number) for number, line in enumerate(lines, 1) if MARK in line} or {None}
        locations = [finding["location"] for finding in report["findings"] if finding["rule"] == rule]
        found = [(Path(location["file"]).name, location["line"]) if location else None for location in locations]
        if found and found[0] not in marked:
            self.problems.append(f"the snapshot blames {found[0]}, expected one of {sorted(marked, key=str)}")

    def expect_peaks(self, run: Recording) -> None:
        """Each snapshot's peaks are the printed ones, and the parts of its breakdown add up."""
        for rank in run.ranks:
            report = self.explain(rank.snapshot)
            name = f"{run.script.stem}/{rank.snapshot.name}"
            peak = report["peak"] or {}
            found = peak.get("allocated_bytes"), peak.get("reserved_bytes")
            self.expect(f"{name}: the peaks", found, (rank.allocated, rank.reserved))
            self.expect(f"{name}: whether the history is whole", peak.get("whole"), True)
            parts = sum(part["bytes"] for part in report["breakdown"] or ())
            self.expect(f"{name}: the sum of the parts", parts, rank.allocated)


def check_program(checker: Checker, recorder: Recorder, program: Program) -> str:
    """Checks a program and its control; returns a row of results."""
    run = recorder.record("program", program)
    checker.expect_peaks(run)
    checker.expect("whether it ran out of memory", run.ran_out, bool(program.text))
    from_text = ""
    if program.text:
        report = checker.explain(run.log)
        checker.expect_first("the text", report, program.text)
        checker.expect("whether the text has an error", bool(report["ooms"]), True)
        from_text = report["findings"][0]["rule"] if report["findings"] else ""
        rules = [finding["rule"] for finding in report["findings"]]
        checker.expect("rules missing from the text", [rule for rule in program.also if rule not in rules], [])
        checker.expect_first("text and snapshot", checker.explain(run.log, run.input), (program.rule,))
    if not program.needs_text:
        report = checker.explain(run.input)
        checker.expect_first("the snapshot", report, (program.rule,))
        checker.expect_blame(report, program.rule, run.script)
    check_control(checker, recorder, program)
    return f"{from_text:28}{program.rule:28}{run.ranks[0].allocated:14,}{run.ranks[0].reserved:14,}"


def check_control(checker: Checker, recorder: Recorder, program: Program) -> None:
    """The control runs to its end and has no unexpected findings."""
    run = recorder.record("control", program)
    checker.expect_peaks(run)
    found = tuple(finding["rule"] for finding in checker.explain(run.input)["findings"] if finding["severity"] != "info")
    checker.expect("findings on the control", found, program.control)


def check_peaks(checker: Checker, recorder: Recorder, program: Program) -> str:
    """The fourth check alone, for a PyTorch with shorter histories."""
    run = recorder.record("program", program)
    checker.expect_peaks(run)
    return f"{'':56}{run.ranks[0].allocated:14,}{run.ranks[0].reserved:14,}"


def check_text(checker: Checker, name: str, rule: str | None) -> str:
    """The first finding on a text."""
    report = checker.explain(HERE / "texts" / f"{name}.txt")
    if rule is None:
        checker.expect("errors found", report["ooms"], [])
    else:
        checker.expect_first("the text", report, (rule,))
    return rule or ""


def main() -> int:
    """Exit status 1 if a case fails."""
    parser = suite.parser(__doc__)
    parser.add_argument("--recordings", type=Path, help="keep the recordings in this folder, and use those that are there")
    parser.add_argument("--peaks-only", action="store_true", help="only the fourth check, without controls")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oomph-causes-") as folder:
        recordings, oomph = (arguments.recordings or Path(folder)).absolute(), arguments.oomph.absolute()
        heading = f"{'program':58}{'the text says':28}{'the snapshot says':28}{'allocated':>14}{'reserved':>14}"
        if arguments.peaks_only:
            return suite.run("peaks", _cases(Recorder(oomph, recordings), True), arguments, heading)
        with Forks(oomph, Path(sys.executable), plain_environment() | {"OOMPH_CACHE_DIR": str(recordings / "cache")}) as forks:
            return suite.run("causes", _cases(Recorder(oomph, recordings, forks), False), arguments, heading)


def _cases(recorder: Recorder, peaks_only: bool) -> list[suite.Case]:
    check = check_peaks if peaks_only else check_program
    cases = [suite.Case(program.name, partial(_checked, recorder, check, recorder, program)) for program in PROGRAMS]
    texts = [suite.Case(f"{name}.txt", partial(_checked, recorder, check_text, name, rule)) for name, rule in TEXTS.items()]
    return cases if peaks_only else cases + texts


def _checked(recorder: Recorder, check: Callable[..., str], *arguments) -> str:
    """The text of a check, which fails with all problems that its checker collected."""
    checker = Checker(recorder.oomph)
    try:
        detail = check(checker, *arguments)
    except AssertionError as failure:
        checker.problems.append(str(failure))
    assert not checker.problems, "\n".join(f"    {problem}" for problem in checker.problems)
    return detail


if __name__ == "__main__":
    sys.exit(main())
