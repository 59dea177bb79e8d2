"""Programs that run out of memory late in a job, and look-alikes that fit: the word, the stage, the step and the line.

    python tests/lives/check.py --oomph target/release/oomph [--half work|blind] [WORD ...]
    target/frameworks/bin/python tests/lives/check.py --oomph target/release/oomph --half frameworks [WORD ...]
    python tests/lives/check.py --oomph target/release/oomph --all --full     the answers themselves, by runs of full length

README.md says what the answers mean. The last lines of the output are a table for each half. With `--full` each program runs to its end
(`--steps 0`), and the verdict, the need, the line and the step are compared with its block: stages are not.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import judge
import suite

COLUMNS = {
    "late": "run out", "found": "found", "stage": "stage", "line": "line", "step": "step", "false": "false fits",
    "open": "so far", "fit": "fit", "right": "said", "refused": "alarms", "part": "so far",
}  # fmt: skip


def main() -> int:
    """Exit status 1 if a program is not judged as its block says."""
    parser = suite.parser(__doc__)
    parser.add_argument("--half", choices=(*judge.HALVES, "frameworks"), help="only this half, or the programs of libraries [default: both halves]")
    parser.add_argument("--full", action="store_true", help="run each program to its end, and compare its block with that run")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oomph-lives-") as folder:
        kept = Path(folder)
        body = partial(confirm, arguments.oomph.absolute()) if arguments.full else partial(score, arguments.oomph.absolute(), kept)
        status = suite.run("lives", judge.cases(HERE, body, lambda expected: expected["stage"][0], arguments.half), arguments)
        print_table([json.loads(path.read_text(encoding="utf-8")) for path in sorted(kept.glob("*.json"))])
    return status


def confirm(oomph: Path, path: Path) -> str:
    """Compares the block with a run of full length; returns the first sentence."""
    seen = judge.ask(oomph, path, "--steps", "0")
    return judge.conclude(seen, compare_step(seen))


def score(oomph: Path, kept: Path, path: Path) -> str:
    """Checks the program, and keeps the score for the table; returns the first sentence."""
    seen = judge.ask(oomph, path)
    kept.joinpath(f"{path.parent.name}-{path.stem}.json").write_text(json.dumps(count(seen)), encoding="utf-8")
    return judge.conclude(seen, [*compare_step(seen), *compare_stage(seen)])


def count(seen: judge.Seen) -> dict:
    """The row of a program: the half, the stage, and true for each column that counts the program."""
    is_late, is_found = seen.expected["truth"] == "does not fit", seen.word == "does not fit"
    row = {"half": seen.path.parent.name, "group": seen.expected["stage"][0], "late": is_late, "fit": not is_late}
    if is_late:
        row |= {"found": is_found, "false": seen.word == "fits", "open": seen.word == "fits so far"}
        row |= {"line": is_found and not list(judge.compare_line(seen.expected["line"], seen))}
        row |= {"stage": is_found and not list(compare_stage(seen)), "step": is_found and not list(compare_step(seen))}
        return row
    return row | {"right": seen.word in seen.expected["verdict"], "refused": is_found, "part": seen.word == "fits so far"}


def compare_step(seen: judge.Seen) -> Iterator[str]:
    """The optimizer step of the refused request."""
    step = seen.oom.get("step")
    if seen.word == "does not fit" and step != seen.expected.get("step", step):
        yield f"step {step} of the request, expected {seen.expected['step']}"


def compare_stage(seen: judge.Seen) -> Iterator[str]:
    """The stage of the refused request."""
    stage = find_stage(seen.report)
    if seen.word == "does not fit" and stage not in seen.expected["stage"]:
        yield f"stage {stage}, expected {' or '.join(seen.expected['stage'])}"


def find_stage(report: dict) -> str | None:
    """The stage of the refused request, else of the fullest row."""
    rows = report.get("stages") or []
    fullest = max(rows, key=lambda row: row["peak_device_bytes"], default={})
    return (report.get("oom") or {}).get("stage") or fullest.get("stage")


def print_table(scores: list[dict]) -> None:
    """Prints the counts of each half by stage."""
    for half in dict.fromkeys(score["half"] for score in scores):
        some = [score for score in scores if score["half"] == half]
        print(f"\n{half:14}" + "".join(f"{title:>11}" for title in COLUMNS.values()))
        for group in [*dict.fromkeys(score["group"] for score in some), "all"]:
            rows = [score for score in some if group in ("all", score["group"])]
            print(f"{group:14}" + "".join(f"{sum(row.get(column, False) for row in rows):11}" for column in COLUMNS))


if __name__ == "__main__":
    sys.exit(main())
