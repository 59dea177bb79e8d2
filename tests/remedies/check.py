"""Runs each case of `cases_*.py`: a program unchanged, with a remedy, and with the same change made in its source.

    python tests/remedies/check.py --oomph target/release/oomph

1. The peaks without and with the remedy equal those of the case, which were computed from shapes.
2. The report's notes describe the result of the remedy.
3. If the remedy applies, the patched source reaches the same peaks, allocated and reserved, to the byte.
"""

import fcntl
import hashlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
from functools import cache, partial
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import byhand
import suite
from case import Case
from forks import Forks

HERE = Path(__file__).resolve().parent
# More seconds than any program takes, unless the machine is very busy.
PATIENCE = 900
# Of the cases, and one of each remedy.
SHARE = 0.3


class Checker:
    """Runs programs below `folder`; an unchanged program runs once for all its cases."""

    def __init__(self, oomph: Path, pythons: list[Path], folder: Path, forks: Forks) -> None:
        self.forks = forks
        self.oomph = oomph
        self.pythons = pythons
        self.folder = folder

    def plain(self, case: Case, python: Path) -> dict:
        """The report of the unchanged program, from a file that the first case writes for all others."""
        key = repr((case.program, case.arguments, case.options, case.gpu, python))
        with (self.folder / f"{hashlib.sha256(key.encode()).hexdigest()}.json").open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            text = file.read()
            if text:
                return json.loads(text)
            report = self.report(case, python, program_of(case))
            file.write(json.dumps(report))
            return report

    def report(self, case: Case, python: Path, script: Path, *options: str) -> dict:
        """The report of `oomph check --json` on a script."""
        command = [self.oomph, "check", "--json", "--gpu", case.gpu, "--python", python, *case.options, *options, script, *case.arguments]
        environment = plain_environment() | {"OOMPH_CACHE_DIR": str(self.folder / "cache")}
        words = [str(word) for word in command]
        done = subprocess.run(words, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=PATIENCE)
        assert done.stdout, f"{' '.join(words)} ended with {done.returncode} and said:\n{done.stderr}"
        return json.loads(done.stdout)

    def python_for(self, case: Case) -> Path | None:
        """The first Python with the packages that the case needs, and without those that must be absent."""
        fitting = (python for python in self.pythons if _has(python, case.needs) == len(case.needs) and not _has(python, case.lacks))
        return next(fitting, None)


def program_of(case: Case) -> Path:
    """Its source."""
    return HERE / "programs" / f"{case.program}.py"


@cache
def _has(python: Path, packages: tuple[str, ...]) -> int:
    """The number of these packages that a Python can import."""
    code = f"import importlib.util as util; print(sum(util.find_spec(name) is not None for name in {packages!r}))"
    return int(subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout) if packages else 0


def plain_environment() -> dict[str, str]:
    """Ours, without what would change a program or oomph."""
    theirs = ("OOMPH_", "PYTORCH_", "CUDA_", "RANK", "LOCAL_RANK", "WORLD_SIZE", "LD_")
    return {name: value for name, value in os.environ.items() if not name.startswith(theirs)}


def check_case(checker: Checker, case: Case, python: Path) -> tuple[str, list[str]]:
    """The text to show, and the problems."""
    before = checker.plain(case, python)
    after = checker.report(case, python, program_of(case), "--with", case.remedy)
    problems = [
        *differing_peaks(case, before["peak"]["allocated_bytes"], after["peak"]["allocated_bytes"]),
        *differs("the verdict as it is", word_of(before), "fits"),
        *differs("the verdict with the remedy", word_of(after), case.verdict),
    ]
    for text in case.notes:
        if not any(text in note for note in after["notes"]):
            problems.append(f"no note holds `{text}`; the notes are {json.dumps(after['notes'], indent=8)}")
    if case.by_hand:
        problems += differs("the peaks of the patched source", peaks_by_hand(checker, case, python), peaks(after))
    numbers = f"{before['peak']['allocated_bytes']:16,}{after['peak']['allocated_bytes']:16,}"
    return numbers + ("  = by hand" if case.by_hand else ""), problems


def word_of(report: dict) -> str:
    """The verdict; a program that fits so far fits, too."""
    return report["verdict"].removesuffix("_so_far")


def differing_peaks(case: Case, before: int, after: int) -> list[str]:
    """The differences from the stated peaks; or, without stated peaks, from a peak that the remedy lowers."""
    if case.before is None:
        assert case.by_hand, f"{case.name} states no bytes, and has no patched source to compare with"
        return [] if after < before else [f"the peak with the remedy: {after}, expected less than {before}"]
    return [*differs("the peak as it is", before, case.before), *differs("the peak with the remedy", after, case.after)]


def peaks(report: dict) -> tuple[int, int]:
    """Allocated and reserved."""
    return report["peak"]["allocated_bytes"], report["peak"]["reserved_bytes"]


def peaks_by_hand(checker: Checker, case: Case, python: Path) -> tuple[int, int]:
    """The peaks of the patched source. One of several ranks, or a program with another Python, cannot run as a fork."""
    script = patched(checker, case)
    if case.options or python != checker.pythons[0]:
        return peaks(checker.report(case, python, script))
    return byhand.peaks(byhand.records_of_fork(checker.forks, checker.folder, script, *case.arguments, gpu=case.gpu))


def patched(checker: Checker, case: Case) -> Path:
    """The program with the change by hand, in a folder of its own."""
    source = program_of(case).read_text(encoding="utf-8")
    for old, new in case.by_hand:
        assert source.count(old) == 1, f"`{old}` is {source.count(old)} times in {case.program}.py, expected once"
        source = source.replace(old, new)
    folder = Path(tempfile.mkdtemp(dir=checker.folder))
    script = folder / f"{case.program}.py"
    script.write_text(source, encoding="utf-8")
    return script


def differs(what: str, found, expected) -> list[str]:
    """A problem if both differ."""
    return [] if found == expected else [f"{what}: {found}, expected {expected}"]


def cases() -> list[Case]:
    """The cases of every `cases_*.py`."""
    sys.path.insert(0, str(HERE))
    return [case for path in sorted(HERE.glob("cases_*.py")) for case in importlib.import_module(path.stem).CASES]


def outcome_of(checker: Checker, case: Case) -> str:
    """The text to show for a case."""
    python = checker.python_for(case)
    if python is None:
        raise suite.Skip(f"no Python that has {case.needs} and lacks {case.lacks}")
    detail, problems = check_case(checker, case, python)
    assert not problems, "\n".join(f"    {problem}" for problem in problems)
    return detail


def main() -> int:
    """Exit status 1 if a case fails."""
    parser = suite.parser(__doc__)
    parser.add_argument("--python", type=Path, help="the Python that runs the programs [default: this one]")
    parser.add_argument("--frameworks", type=Path, help="a Python for the cases that need packages which the first one lacks")
    arguments = parser.parse_args()
    pythons = [path.absolute() for path in (arguments.python or Path(sys.executable), arguments.frameworks) if path]
    with tempfile.TemporaryDirectory(prefix="oomph-remedies-") as folder:
        oomph = arguments.oomph.absolute()
        with Forks(oomph, pythons[0], plain_environment() | {"OOMPH_CACHE_DIR": f"{folder}/cache"}) as forks:
            checker = Checker(oomph, pythons, Path(folder), forks)
            rows = [suite.Case(case.name, partial(outcome_of, checker, case), group=case.remedy.partition(":")[0], share=SHARE) for case in cases()]
            return suite.run("remedies", rows, arguments, f"{'remedy, program':58}{'as it is':>16}{'with it':>16}")


if __name__ == "__main__":
    sys.exit(main())
