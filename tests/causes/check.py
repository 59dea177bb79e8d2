"""Runs each program of `cases.py` on a phantom GPU, and holds what `oomph explain` says of it against what it has.

    python tests/causes/check.py --oomph target/release/oomph

1. The error's text alone names the right rule first, where a text can decide.
2. The snapshot names it first, at a line that is to blame; where the snapshot is blind to it, together with the text.
3. Of the control, which is the same program without the cause, nothing is said.
4. The peaks are `torch.cuda.max_memory_allocated()` and `max_memory_reserved()`, as the program prints them, to the
   byte, and the parts of every breakdown add up.
5. The texts name their rule first; where there is no error of PyTorch's, none is found.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import suite
from cases import PROGRAMS, TEXTS, Program
from forks import Forks
from recording import HERE, PATIENCE, Recorder, Recording, plain_environment

MARK = "# the cause"


class Checker:
    """Asks `explain`, and collects what is wrong."""

    def __init__(self, oomph: Path) -> None:
        self.oomph = oomph
        self.problems: list[str] = []

    def explain(self, *inputs: Path) -> dict:
        """What `explain --json` says; its exit status must fit."""
        command = [str(word) for word in (self.oomph, "explain", "--json", *inputs)]
        done = subprocess.run(command, env=plain_environment(), capture_output=True, text=True, timeout=PATIENCE)
        shown = " ".join(path.name for path in inputs)
        assert done.returncode in (0, 1), f"explain {shown} ended with {done.returncode}: {done.stderr}"
        report = json.loads(done.stdout)
        ooms = report["ooms"] or [device for device in report["devices"] if device["oom"]]
        is_found = bool(ooms) or any(finding["severity"] != "info" for finding in report["findings"])
        self.expect(f"the exit status for {shown}", done.returncode, int(is_found))
        return report

    def expect(self, what: str, found, expected) -> None:
        """Notes a problem if they differ."""
        if found != expected:
            self.problems.append(f"{what}: {found}, expected {expected}")

    def first(self, source: str, report: dict, rules: tuple[str, ...]) -> None:
        """One of `rules` comes first."""
        found = [finding["rule"] for finding in report["findings"]]
        if not found or found[0] not in rules:
            told = "".join(f"\n      {finding['rule']}: {finding['message']}" for finding in report["findings"])
            self.problems.append(f"{source}: expected {' or '.join(rules)} first, found {found}{told}")

    def blamed(self, report: dict, rule: str, script: Path) -> None:
        """The line of the rule's finding is one that is marked; it has none where none is."""
        lines = script.read_text(encoding="utf-8").splitlines()
        marked = {(script.name, number) for number, line in enumerate(lines, 1) if MARK in line} or {None}
        locations = [finding["location"] for finding in report["findings"] if finding["rule"] == rule]
        found = [(Path(location["file"]).name, location["line"]) if location else None for location in locations]
        if found and found[0] not in marked:
            self.problems.append(f"the snapshot: blamed is {found[0]}, expected one of {sorted(marked, key=str)}")

    def exact(self, run: Recording) -> None:
        """Each snapshot's peaks are the program's own, and parts add up to their whole."""
        for rank in run.ranks:
            report = self.explain(rank.snapshot)
            name = f"{run.script.parent.name}/{rank.snapshot.name}"
            peak = report["peak"] or {}
            found = peak.get("allocated_bytes"), peak.get("reserved_bytes")
            self.expect(f"{name}: the peaks", found, (rank.allocated, rank.reserved))
            self.expect(f"{name}: whether the history is whole", peak.get("whole"), True)
            parts = sum(part["bytes"] for part in report["breakdown"] or ())
            self.expect(f"{name}: the sum of the parts", parts, rank.allocated)


def check_program(checker: Checker, recorder: Recorder, program: Program) -> str:
    """Everything about a program and its control; gives what there is to show."""
    run = recorder.record("programs", program)
    checker.exact(run)
    checker.expect("whether it ran out of memory", run.ran_out, bool(program.text))
    said = ""
    if program.text:
        report = checker.explain(run.log)
        checker.first("the text", report, program.text)
        checker.expect("whether the text has an error", bool(report["ooms"]), True)
        said = report["findings"][0]["rule"] if report["findings"] else ""
        rules = [finding["rule"] for finding in report["findings"]]
        checker.expect("what the text shows besides", [rule for rule in program.also if rule not in rules], [])
        checker.first("text and snapshot", checker.explain(run.log, run.input), (program.rule,))
    if not program.needs_text:
        report = checker.explain(run.input)
        checker.first("the snapshot", report, (program.rule,))
        checker.blamed(report, program.rule, run.script)
    check_control(checker, recorder, program)
    return f"{said:28}{program.rule:28}{run.ranks[0].allocated:14,}{run.ranks[0].reserved:14,}"


def check_control(checker: Checker, recorder: Recorder, program: Program) -> None:
    """The control runs to its end, and nothing is wrong with it."""
    run = recorder.record("controls", program)
    checker.exact(run)
    found = tuple(finding["rule"] for finding in checker.explain(run.input)["findings"] if finding["severity"] != "info")
    checker.expect("findings on the control", found, program.control)


def check_peaks(checker: Checker, recorder: Recorder, program: Program) -> str:
    """The fourth check alone, for a PyTorch whose history may say less."""
    run = recorder.record("programs", program)
    checker.exact(run)
    return f"{'':56}{run.ranks[0].allocated:14,}{run.ranks[0].reserved:14,}"


def check_text(checker: Checker, name: str, rule: str | None) -> str:
    """What is said of a text first."""
    report = checker.explain(HERE / "texts" / f"{name}.txt")
    if rule is None:
        checker.expect("errors found", report["ooms"], [])
    else:
        checker.first("the text", report, (rule,))
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
    """What a check shows; it fails with all problems that its checker collected."""
    checker = Checker(recorder.oomph)
    try:
        detail = check(checker, *arguments)
    except AssertionError as failure:
        checker.problems.append(str(failure))
    assert not checker.problems, "\n".join(f"    {problem}" for problem in checker.problems)
    return detail


if __name__ == "__main__":
    sys.exit(main())
