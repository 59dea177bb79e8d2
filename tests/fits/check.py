"""Programs whose verdict is known by arithmetic: the word, the need, and what the first sentence must say.

    python tests/fits/check.py --oomph target/release/oomph [--half work|blind] [WORD ...]

README.md says what the answers mean. The last lines of the output are a table for each half: how many verdicts of each kind are right, how
many are a false "fits", and how many programs that fit were refused.
"""

import json
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import judge
import suite


def main() -> int:
    """Exit status 1 if a program is not judged as its block says."""
    parser = suite.parser(__doc__)
    parser.add_argument("--half", choices=judge.HALVES, help="only this half [default: both]")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oomph-fits-") as folder:
        kept = Path(folder)
        cases = judge.cases(HERE, partial(score, arguments.oomph.absolute(), kept), lambda expected: f"kind {expected['kind']}", arguments.half)
        status = suite.run("fits", cases, arguments)
        print_table([json.loads(path.read_text(encoding="utf-8")) for path in sorted(kept.glob("*.json"))])
    return status


def score(oomph: Path, kept: Path, path: Path) -> str:
    """Checks the program, and keeps the score for the table; returns the first sentence."""
    seen = judge.ask(oomph, path)
    is_fit = seen.expected["truth"] == "fits"
    found = {
        "half": path.parent.name,
        "kind": seen.expected["kind"],
        "right": not list(judge.problems(seen)),
        "false": not is_fit and seen.word == "fits",
        "refused": is_fit and seen.word not in ("fits", "fits so far", *seen.expected["verdict"]),
    }
    kept.joinpath(f"{path.parent.name}-{path.stem}.json").write_text(json.dumps(found), encoding="utf-8")
    return judge.conclude(seen)


def print_table(scores: list[dict]) -> None:
    """Prints the counts of each half by kind."""
    for half in dict.fromkeys(score["half"] for score in scores):
        some = [score for score in scores if score["half"] == half]
        print(f"\n{half:8}{'kind':>6}{'programs':>10}{'right':>8}{'false fits':>12}{'refused':>9}")
        for kind in [*sorted({score["kind"] for score in some}), None]:
            row = [score for score in some if kind in (None, score["kind"])]
            counts = [sum(score[key] for score in row) for key in ("right", "false", "refused")]
            print(f"{'':8}{kind or 'all':>6}{len(row):10}{counts[0]:8}{counts[1]:12}{counts[2]:9}")


if __name__ == "__main__":
    sys.exit(main())
