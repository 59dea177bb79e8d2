"""Each mistake that `oomph lint` finds, beside the same program without it: what the linter says, and what PyTorch's counters say.

    python tests/lint/check.py --oomph target/release/oomph [--frameworks PYTHON] [RULE ...]

1. The linter finds the rule in `pairs/RULE/mistake.py`, nothing else, and nothing in `clean.py`.
2. Both run on a phantom GPU, and differ by the number that `cases.py` computes from shapes.
3. The page `docs/lint/RULE.md` says that number, and whether there is a fix.
4. The fixed text has no finding that was not there before, and reaches the peak of `clean.py`, to the byte.
5. Every rule of `docs/lint/README.md` whose mistake costs memory has a pair.
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

import suite
from cases import CASES, Case
from measures import MEASURES, told

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAIRS = HERE / "pairs"
PAGES = ROOT / "docs" / "lint"
# Seconds for all programs; each has a limit of its own in `runner.py`.
PATIENCE = 900


@dataclass
class Outcome:
    """What was found out about a case."""

    case: Case
    problems: list[str] = field(default_factory=list)
    # The fixed text of `mistake.py`, if the rule has a fix.
    fixed: Path | None = None
    # The counts of each rank by the program's name: mistake, clean, fixed.
    counts: dict[str, list[dict]] = field(default_factory=dict)
    # What the programs took: elapsed, and of the CPU.
    elapsed: float = 0
    cpu: float = 0

    def expect(self, what: str, found, expected) -> None:
        """Notes a problem if they differ."""
        if found != expected:
            self.problems.append(f"{what}: found {found}, expected {expected}")

    def jobs(self) -> list[dict]:
        """The programs, as the runner takes them."""
        mistake, clean = self.case.ranks
        folder = PAIRS / self.case.rule
        programs = [("mistake", folder / "mistake.py", mistake), ("clean", folder / "clean.py", clean)]
        programs += [("fixed", self.fixed, mistake)] if self.fixed else []
        rest = {"gpus": self.case.gpus, "host": self.case.measure.startswith("host")}
        return [{"name": f"{self.case.rule} {name}", "program": str(path), "ranks": ranks, **rest} for name, path, ranks in programs]


class Checker:
    """Asks the binary."""

    def __init__(self, oomph: Path, folder: Path, effects: dict[str, str]) -> None:
        self.oomph = oomph
        self.folder = folder
        self.effects = effects

    def lint(self, program: Path, *options: str) -> list[dict]:
        """The findings in a program; no settings of this repository count."""
        words = [self.oomph, "lint", "--format", "json", *options, program]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode in (0, 1), f"lint of {program} ended with {done.returncode}: {done.stderr}"
        report = json.loads(done.stdout)
        assert report["unreadable"] == [], f"{program}: {report['unreadable']}"
        return report["findings"]

    def source(self, outcome: Outcome) -> None:
        """What the linter says of the pair, and of the mistake after its fix."""
        case, folder = outcome.case, PAIRS / outcome.case.rule
        # Rules of style are off unless they are asked by name.
        options = ["--select", case.rule] if self.effects[case.rule] == "style" else []
        found = self.lint(folder / "mistake.py", *options)
        outcome.expect("findings in mistake.py", _rules(found), sorted(filter(None, (case.rule, case.also))))
        outcome.expect("findings in clean.py", _rules(self.lint(folder / "clean.py", *options)), [])
        fix = next((finding["fix"] for finding in found if finding["rule"] == case.rule), None)
        check_page(outcome, "None" if fix is None else "Safe" if fix["is_safe"] else "Unsafe")
        if fix:
            outcome.fixed = self.fix(outcome, folder / "mistake.py")

    def fix(self, outcome: Outcome, mistake: Path) -> Path:
        """The text with the rule's fix made; of all rules it must have lost this one's finding, and won none."""
        rule = outcome.case.rule
        fixed = self.folder / f"{rule}.py"
        fixed.write_bytes(mistake.read_bytes())
        before = _rules(self.lint(fixed, "--select", "ALL"))
        self.lint(fixed, "--select", rule, "--fix", "--unsafe-fixes")
        before.remove(rule)
        outcome.expect("findings of all rules after the fix", _rules(self.lint(fixed, "--select", "ALL")), before)
        return fixed

    def run(self, python: Path, outcomes: list[Outcome]) -> None:
        """Runs the programs of these cases, all in forks of one process."""
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
    """The rule's page says the difference, why it is no more than that where it cannot be measured, and what kind of fix there is."""
    case = outcome.case
    page = (PAGES / f"{case.rule}.md").read_text(encoding="utf-8")
    for said in filter(None, (told(case.measure, case.difference), case.unmeasured)):
        if said not in page:
            outcome.problems.append(f"docs/lint/{case.rule}.md does not say: {said}")
    kind = re.search(r"## The fix\n\n(\w+)", page)
    outcome.expect("the fix on the page", kind and kind[1], fix)


def compare(outcome: Outcome) -> str:
    """Holds the counts of the programs against the case; gives what there is to show."""
    case, measure = outcome.case, MEASURES[outcome.case.measure]
    for job in outcome.jobs():
        name = job["name"].split()[1]
        for rank in outcome.counts[name]:
            may_fail = (case.measure, name) == ("error", "mistake")
            assert may_fail or rank["error"] is None, f"{name}.py ended with {rank['error']}\n{rank['log']}"
    mistake, clean = (measure.of(outcome.counts[name]) for name in ("mistake", "clean"))
    if case.measure == "error":
        outcome.expect("mistake.py and clean.py end with", (mistake, clean), (case.difference, ""))
    elif abs(mistake - clean - case.difference) > case.tolerance:
        outcome.expect(f"{case.measure} of mistake.py ({mistake:,}) less that of clean.py ({clean:,})", mistake - clean, case.difference)
    if outcome.fixed:
        peaks = (MEASURES["peak"].of(outcome.counts[name]) for name in ("fixed", "clean"))
        outcome.expect("the peaks of the fixed program and of clean.py", *peaks)
    shown = (mistake, clean) if case.measure == "error" else (f"{mistake:,}", f"{clean:,}")
    return f"{shown[0]:>14} {shown[1]:>14}  {told(case.measure, case.difference)}{', fixed' if outcome.fixed else ''}"


def conclude(outcome: Outcome, was_run: bool) -> suite.Outcome:
    """What became of a case."""
    try:
        detail = compare(outcome) if was_run else f"the programs were not run: {outcome.case.needs} is missing"
    except AssertionError as failure:
        outcome.problems.append(str(failure))
        detail = ""
    problems = "".join(f"\n    {problem}" for problem in outcome.problems)
    word = "FAILED" if problems else "ok" if was_run else "skipped"
    return suite.Outcome("mistakes", outcome.case.rule, word, outcome.elapsed, outcome.cpu, detail + problems)


def effects() -> dict[str, str]:
    """The effect of each rule, as the list of rules says it."""
    text = (PAGES / "README.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| \[([a-z0-9-]+)\]\([a-z0-9-]+\.md\) \| (\w+) \|", text, re.MULTILINE))


def not_covered(known: dict[str, str]) -> list[str]:
    """Rules without a pair, and pairs without a rule."""
    cases = {case.rule for case in CASES}
    pairs = {path.name for path in PAIRS.iterdir() if path.is_dir()}
    costly = {rule for rule, effect in known.items() if effect != "style"}
    missing = [f"{rule}: its mistake costs memory, and it has no pair" for rule in sorted(costly - cases)]
    halves = [f"{rule}: stands in only one of pairs and cases.py" for rule in sorted(cases ^ pairs)]
    return missing + halves + [f"{rule}: has a pair, and no row in docs/lint/README.md" for rule in sorted(cases - known.keys())]


def check(oomph: Path, frameworks: Path | None, cases: list[Case], known: dict[str, str]) -> list[suite.Outcome]:
    """Checks cases."""
    outcomes = [Outcome(case) for case in cases]
    own = [outcome for outcome in outcomes if not outcome.case.needs or find_spec(outcome.case.needs)]
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
    """Exit status 1 if a case fails."""
    parser = suite.parser(__doc__)
    parser.add_argument("--frameworks", type=Path, help="a Python that also has accelerate")
    arguments = parser.parse_args()
    began = time.perf_counter()
    known = effects()
    chosen = [case for case in CASES if not arguments.words or any(word in case.rule for word in arguments.words)]
    outcomes = check(arguments.oomph, arguments.frameworks, chosen, known)
    outcomes += [suite.Outcome("mistakes", problem, "FAILED", 0, 0, "") for problem in not_covered(known)]
    for number, outcome in enumerate(outcomes, 1):
        suite.show(outcome, number, len(outcomes))
    return suite.conclude(outcomes, len(CASES) - len(chosen), time.perf_counter() - began)


if __name__ == "__main__":
    sys.exit(main())
