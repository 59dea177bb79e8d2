"""Checks every rule of `oomph lint` on a program with the mistake and on the same program without it: findings, fix, and PyTorch's counters.

    python tests/lint/check.py --oomph target/release/oomph [--frameworks PYTHON] [RULE ...]

1. In the block `mistake` of `crates/lint/cases/RULE.md` the linter finds the rule and nothing else, in the block `clean` nothing.
2. Both programs run on a phantom GPU and differ by the number that the block `measured` computes from shapes.
3. The page `docs/lint/RULE.md` states that number, and the kind of the fix.
4. The fixed program has no new finding, and its peak equals the peak of `clean`, to the byte.
5. Every rule of `docs/lint/README.md` with a cost in memory has a pair.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import documents
import suite
from cases import Case, read_cases
from measures import MEASURES, state_difference

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGES = ROOT / "docs" / "lint"
# Seconds for all programs; each has a limit of its own in `runner.py`.
PATIENCE = 900


@dataclass
class Outcome:
    """The problems and the counts of a case."""

    case: Case
    problems: list[str] = field(default_factory=list)
    # The programs by name: mistake, clean, and fixed if the rule has a fix.
    programs: dict[str, Path] = field(default_factory=dict)
    # The counts of each rank, by the name of the program.
    counts: dict[str, list[dict]] = field(default_factory=dict)
    # Seconds of the programs: elapsed, and of the CPU.
    elapsed: float = 0
    cpu: float = 0

    def expect(self, what: str, found, expected) -> None:
        """Records a problem if the two differ."""
        if found != expected:
            self.problems.append(f"{what}: found {found}, expected {expected}")

    def jobs(self) -> list[dict]:
        """Returns the programs as jobs of `runner.py`."""
        pair = self.case.pair
        shared = {"gpus": pair.gpus, "host": pair.measure.startswith("host")}
        ranks = {"mistake": pair.ranks[0], "clean": pair.ranks[1], "fixed": pair.ranks[0]}
        jobs = [{"name": f"{self.case.rule} {name}", "program": str(path), "ranks": ranks[name]} for name, path in self.programs.items()]
        return [job | shared for job in jobs]


class Checker:
    """Runs the binary."""

    def __init__(self, oomph: Path, folder: Path, effects: dict[str, str]) -> None:
        self.oomph = oomph
        self.folder = folder
        self.effects = effects

    def lint(self, program: Path, *options: str) -> list[dict]:
        """Returns the findings in a program, without any settings of this repository."""
        words = [self.oomph, "lint", "--format", "json", *options, program]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode in (0, 1), f"lint of {program} ended with {done.returncode}: {done.stderr}"
        report = json.loads(done.stdout)
        documents.hold("lint", report)
        assert report["unreadable"] == [], f"{program}: {report['unreadable']}"
        return report["findings"]

    def source(self, outcome: Outcome) -> None:
        """Compares the findings in both programs, and in the mistake after its fix, with the expected ones."""
        case = outcome.case
        folder = self.folder / case.rule
        folder.mkdir()
        for name, text in (("mistake", case.mistake), ("clean", case.clean)):
            outcome.programs[name] = folder / f"{name}.py"
            outcome.programs[name].write_text(text, encoding="utf-8")
        # Rules of style are off unless selected by name.
        options = ["--select", case.rule] if self.effects[case.rule] == "style" else []
        found = self.lint(outcome.programs["mistake"], *options)
        outcome.expect("findings in mistake", _rules(found), sorted(filter(None, (case.rule, case.pair.also))))
        remaining = [case.pair.remaining] if case.pair.remaining else []
        outcome.expect("findings in clean", _rules(self.lint(outcome.programs["clean"], *options)), remaining)
        fix = next((finding["fix"] for finding in found if finding["rule"] == case.rule), None)
        check_page(outcome, "None" if fix is None else "Safe" if fix["is_safe"] else "Unsafe")
        if fix:
            self.fix(outcome)

    def fix(self, outcome: Outcome) -> None:
        """Applies the rule's fix: the finding of this rule must be gone, and no other may appear but `remaining`."""
        rule = outcome.case.rule
        fixed = outcome.programs["fixed"] = self.folder / rule / "fixed.py"
        fixed.write_text(outcome.case.mistake, encoding="utf-8")
        before = _rules(self.lint(fixed, "--select", "ALL"))
        self.lint(fixed, "--select", rule, "--fix", "--unsafe-fixes")
        before.remove(rule)
        before += [outcome.case.pair.remaining] if outcome.case.pair.remaining else []
        outcome.expect("findings of all rules after the fix", _rules(self.lint(fixed, "--select", "ALL")), before)

    def run(self, python: Path, outcomes: list[Outcome]) -> None:
        """Runs the programs of several cases, each in a fork of one process."""
        words = [self.oomph, "phantom", "--gpu", "rtx-4090", "--gpus", "2", "--", python, HERE / "runner.py"]
        text = "".join(json.dumps(job) + "\n" for outcome in outcomes for job in outcome.jobs())
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTORCH_", "CUDA_"))}
        done = subprocess.run(words, input=text, env=environment, cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, f"the runner ended with {done.returncode}:\n{done.stderr}"
        by_rule = {outcome.case.rule: outcome for outcome in outcomes}
        for answer in map(json.loads, done.stdout.splitlines()):
            rule, name = answer["name"].split()
            outcome = by_rule[rule]
            outcome.counts[name] = answer["ranks"]
            outcome.elapsed += answer["elapsed"]
            outcome.cpu += answer["cpu"]


def _rules(findings: list[dict]) -> list[str]:
    return sorted(finding["rule"] for finding in findings)


def check_page(outcome: Outcome, fix: str) -> None:
    """Checks that the page of the rule states the difference, the reason if the effect is unmeasured, and the kind of the fix."""
    case = outcome.case
    page = (PAGES / f"{case.rule}.md").read_text(encoding="utf-8")
    for statement in filter(None, (state_difference(case.pair.measure, case.pair.difference), case.pair.unmeasured)):
        if statement not in page:
            outcome.problems.append(f"docs/lint/{case.rule}.md does not state: {statement}")
    kind = re.search(r"## The fix\n\n(\w+)", page)
    outcome.expect("the fix on the page", kind and kind[1], fix)


def compare(outcome: Outcome) -> str:
    """Compares the counts of the programs with the pair; returns a line for the report."""
    pair, measure = outcome.case.pair, MEASURES[outcome.case.pair.measure]
    for name in outcome.programs:
        for rank in outcome.counts[name]:
            may_fail = (pair.measure, name) == ("error", "mistake")
            assert may_fail or rank["error"] is None, f"{name} ended with {rank['error']}\n{rank['log']}"
    mistake, clean = (measure.of(outcome.counts[name]) for name in ("mistake", "clean"))
    if pair.measure == "error":
        outcome.expect("mistake and clean end with", (mistake, clean), (pair.difference, ""))
    elif abs(mistake - clean - pair.difference) > pair.tolerance:
        outcome.expect(f"{pair.measure} of mistake ({mistake:,}) less that of clean ({clean:,})", mistake - clean, pair.difference)
    if "fixed" in outcome.programs:
        peaks = (MEASURES["peak"].of(outcome.counts[name]) for name in ("fixed", "clean"))
        outcome.expect("the peaks of the fixed program and of clean", *peaks)
    shown = (mistake, clean) if pair.measure == "error" else (f"{mistake:,}", f"{clean:,}")
    stated = state_difference(pair.measure, pair.difference)
    return f"{shown[0]:>14} {shown[1]:>14}  {stated}{', fixed' if 'fixed' in outcome.programs else ''}"


def conclude(outcome: Outcome, was_run: bool) -> suite.Outcome:
    """Returns the result of a case."""
    try:
        detail = compare(outcome) if was_run else f"the programs were not run: {outcome.case.pair.needs} is missing"
    except AssertionError as failure:
        outcome.problems.append(str(failure))
        detail = ""
    problems = "".join(f"\n    {problem}" for problem in outcome.problems)
    word = "FAILED" if problems else "ok" if was_run else "skipped"
    return suite.Outcome("mistakes", outcome.case.rule, word, outcome.elapsed, outcome.cpu, detail + problems)


def effects() -> dict[str, str]:
    """Reads the effect of each rule from the list in `docs/lint`."""
    text = (PAGES / "README.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| \[([a-z0-9-]+)\]\([a-z0-9-]+\.md\) \| (\w+) \|", text, re.MULTILINE))


def list_uncovered(known: dict[str, str], cases: list[Case]) -> list[str]:
    """Lists rules without a pair, and pairs without a rule."""
    paired = {case.rule for case in cases}
    costly = {rule for rule, effect in known.items() if effect != "style"}
    missing = [f"{rule}: has a cost in memory, but crates/lint/cases/{rule}.md has no section `## Measured`" for rule in sorted(costly - paired)]
    return missing + [f"{rule}: has a pair, but no row in docs/lint/README.md" for rule in sorted(paired - known.keys())]


def check(oomph: Path, frameworks: Path | None, cases: list[Case], known: dict[str, str]) -> list[suite.Outcome]:
    """Checks cases; returns their results."""
    outcomes = [Outcome(case) for case in cases]
    own = [outcome for outcome in outcomes if not outcome.case.pair.needs or find_spec(outcome.case.pair.needs)]
    others = [outcome for outcome in outcomes if outcome not in own] if frameworks else []
    with tempfile.TemporaryDirectory(prefix="oomph-lint-") as folder:
        checker = Checker(oomph.absolute(), Path(folder), known)
        for outcome in outcomes:
            checker.source(outcome)
        for python, some in ((Path(sys.executable), own), (frameworks, others)):
            if some:
                checker.run(python.absolute(), some)
    return [conclude(outcome, outcome in own + others) for outcome in outcomes]


def main() -> int:
    """Checks the cases of the selected rules; exit status 1 if one fails."""
    parser = suite.parser(__doc__)
    parser.add_argument("--frameworks", type=Path, help="a Python that also has accelerate")
    arguments = parser.parse_args()
    began = time.perf_counter()
    known = effects()
    cases = read_cases()
    chosen = [case for case in cases if not arguments.words or any(word in case.rule for word in arguments.words)]
    outcomes = check(arguments.oomph, arguments.frameworks, chosen, known)
    outcomes += [suite.Outcome("mistakes", problem, "FAILED", 0, 0, "") for problem in list_uncovered(known, cases)]
    for number, outcome in enumerate(outcomes, 1):
        suite.show(outcome, number, len(outcomes))
    return suite.conclude(outcomes, len(cases) - len(chosen), time.perf_counter() - began)


if __name__ == "__main__":
    sys.exit(main())
