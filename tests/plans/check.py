"""The plans of `oomph fit` for programs that offer settings of their own, and the size of its answer.

    python tests/plans/check.py --oomph target/release/oomph [--half work|blind] [WORD ...]

`README.md` says what the answers mean. For each program:

1. the first plan is one that `case.json` accepts, and no plan has a setting that it refuses;
2. typed by hand (the command line of the report, keys edited in a copy), `check` counts the peak that the plan promised;
3. `--emit diff` afterwards makes no search: it answers within a second.

The last lines are a table: plans that are right, plans that were best, lines of the report, dry runs, seconds.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import suite

HALVES = ("work", "blind")
# The longest answer of a second command, in seconds: nothing is searched again.
LATER = 1.0
# A later check may differ by so much, as two runs of one program do.
ALIKE = 2 << 20


def main() -> int:
    """Exit status 1 if a program's plan is not as its case says."""
    parser = suite.parser(__doc__)
    parser.add_argument("--half", choices=HALVES, help="only this half [default: both]")
    arguments = parser.parse_args()
    halves = [arguments.half] if arguments.half else HALVES
    with tempfile.TemporaryDirectory(prefix="oomph-plans-") as kept:
        found = [path.parent for half in halves for path in sorted((HERE / half).glob("*/case.json"))]
        cases = [case(arguments.oomph.absolute(), Path(kept), path) for path in found]
        status = suite.run("plans", cases, arguments)
        print_table([json.loads(path.read_text(encoding="utf-8")) for path in sorted(Path(kept).glob("*.json"))])
    return status


def case(oomph: Path, kept: Path, path: Path) -> suite.Case:
    """The case of a program."""
    described = json.loads((path / "case.json").read_text(encoding="utf-8"))
    name, body = f"{path.parent.name} {path.name}", partial(score, oomph, kept, path)
    return suite.Case(name, body, memory=3, group=f"half {path.parent.name}", open=described.get("open", ""))


class Program:
    """A program of the corpus, in a folder of its own."""

    def __init__(self, oomph: Path, path: Path, folder: Path) -> None:
        self.case = json.loads((path / "case.json").read_text(encoding="utf-8"))
        self.folder = folder / path.name
        shutil.copytree(path, self.folder, ignore=shutil.ignore_patterns("case.json"))
        self._oomph = oomph
        plain = {key: value for key, value in os.environ.items() if not key.startswith("OOMPH_")}
        self._environment = plain | {"OOMPH_CACHE_DIR": str(folder / "cache")} | self.case.get("environment", {})

    def run(self, *words, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        """Runs oomph in the program's folder."""
        command = [str(word) for word in (self._oomph, *words)]
        environment = self._environment | (variables or {})
        return subprocess.run(command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def fit(self, *words) -> subprocess.CompletedProcess:
        """`oomph fit` of the program."""
        return self.run("fit", *self.case["gpu"], "--python", sys.executable, *words, *self.case["command"])

    def check(self, command: list[str], variables: dict[str, str]) -> dict:
        """`oomph check` of another command line."""
        done = self.run("check", *self.case["gpu"], "--python", sys.executable, "--json", *command, variables=variables)
        assert done.returncode in (0, 1), f"check ended with {done.returncode}: {done.stderr[-2000:]}"
        return json.loads(done.stdout)


def score(oomph: Path, kept: Path, path: Path) -> str:
    """Judges the plan, and keeps the score for the table; returns a line on it."""
    for module in json.loads((path / "case.json").read_text(encoding="utf-8"))["needs"]:
        name = {"hydra-core": "hydra"}.get(module, module)
        if subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode:
            raise suite.Skip(f"it needs {module}")
    with tempfile.TemporaryDirectory(prefix="oomph-plan-") as folder:
        program = Program(oomph, path, Path(folder))
        started = time.monotonic()
        done = program.fit("--json")
        seconds = time.monotonic() - started
        assert done.returncode in (0, 1) and done.stdout, f"fit ended with {done.returncode}: {done.stderr[-2000:]}"
        report = json.loads(done.stdout)
        started = time.monotonic()
        diff = program.fit("--emit", "diff")
        later = time.monotonic() - started
        lines = len(program.fit().stdout.splitlines())
        problems = list(judge(program, report))
        if diff.returncode == 0 and later > LATER:
            problems.append(f"--emit diff took {later:.1f} s after the search")
        plan = first_plan(report)
        found = {
            "half": path.parent.name,
            "right": not problems,
            "best": is_accepted(plan, program.case["best"]),
            "lines": lines,
            "runs": report["runs"],
            "seconds": seconds,
        }
        kept.joinpath(f"{path.parent.name}-{path.name}.json").write_text(json.dumps(found), encoding="utf-8")
        assert not problems, "; ".join(problems) + f"\n{report['headline']}"
        return f"{plan}, {report['runs']} runs, {lines} lines"


def judge(program: Program, report: dict):
    """Yields what is wrong with the answer."""
    case, plans = program.case, report["plans"]
    for plan in plans:
        refused = [one["key"] for one in plan["settings"] if plain(one["key"]) in map(plain, case["refuse"])]
        if refused:
            yield f"a plan changes {', '.join(refused)}"
    if not plans:
        if not case.get("or_refusal"):
            yield "there is no plan"
        return
    first = first_plan(report)
    if not case["accept"]:
        if any(first.values()) and first:
            yield f"the plan is {first}, expected an edit of the source"
        return
    if not any(is_accepted(first, accepted) for accepted in case["accept"]):
        yield f"the plan is {first or [one['remedy'] for one in plans[0]['remedies']]}, expected {case['accept'][0]}"
        return
    yield from promise(program, plans[0])


def first_plan(report: dict) -> dict:
    """The settings of the first plan."""
    return {one["key"]: one["to"] for one in report["plans"][0]["settings"]} if report["plans"] else {}


def plain(key: str) -> str:
    """A key in the spelling of the corpus."""
    return key.removeprefix("$").replace("_", "-")


def is_accepted(plan: dict, accepted: dict) -> bool:
    """True if a plan has the accepted settings, and no others."""
    wanted, have = ({plain(key): str(value).lower() for key, value in some.items()} for some in (accepted, plan))
    return wanted.keys() == have.keys() and all(wanted[key] in ("*", have[key]) for key in wanted)


def promise(program: Program, plan: dict):
    """Yields a difference between the plan's peak and that of the changed program."""
    command, variables = program.case["command"], {}
    if plan["command"]:
        words = plan["command"][1:] if plan["command"][0] == "env" else list(plan["command"])
        while "=" in words[0] and not words[0].startswith("-"):
            name, _, value = words.pop(0).partition("=")
            variables[name] = value
        command = words[1:]
    if any("#" in one["key"] for one in plan["settings"]):
        applied = program.fit("--apply", "--yes")
        if applied.returncode:
            yield f"--apply ended with {applied.returncode}: {applied.stderr[-500:]}"
            return
    after = program.check(command, variables)
    if after["verdict"] not in ("fits", "fits_so_far"):
        yield f"check says {after['verdict']} of the changed program"
    apart = abs(after["peak"]["allocated_bytes"] - plan["peak"]["allocated_bytes"])
    if apart > ALIKE:
        yield f"the peak is {after['peak']['allocated_bytes']}, not {plan['peak']['allocated_bytes']}"


def print_table(scores: list[dict]) -> None:
    """Prints the counts and the medians of each half."""
    for half in dict.fromkeys(score["half"] for score in scores):
        some = [score for score in scores if score["half"] == half]
        median = {key: statistics.median(score[key] for score in some) for key in ("lines", "runs", "seconds")}
        right, best = (sum(score[key] for score in some) for key in ("right", "best"))
        print(f"\n{half}: {len(some)} programs, {right} right, {best} with the best plan first; in the median {median['lines']:g} lines, ", end="")
        print(f"{median['runs']:g} dry runs, {median['seconds']:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
