"""Predicts the programs of the suite and of published figures, and holds docs/ACCURACY.md to the predictions. Needs no GPU.

    python tests/validation/compare.py --oomph PATH                  the fast ones, in some minutes
    python tests/validation/compare.py --oomph PATH --all            all that are kept
    python tests/validation/compare.py --oomph PATH --all --update   all, kept in predicted.json and docs/ACCURACY.md
    python tests/validation/compare.py --oomph PATH WORD ...         those whose names hold a word, such as a kind, or `published`

A prediction is the report of `oomph check`. It is made with the PyTorch of the Python that runs this file. predicted.json keeps each, so
that the document can be written without running all: this script fails if a prediction differs from the kept one, and if the document
differs from the records, the published figures and the kept predictions. Exit status 0: all as kept.
"""

import argparse
import json
import sys
import tempfile
from functools import partial
from importlib.metadata import version
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import suite
from accuracy import document
from catalogue import HERE, ROOT, chosen
from predict import Job, predict
from published import figures
from truth import records

KEPT = HERE / "predicted.json"
DOCUMENT = ROOT / "docs" / "ACCURACY.md"
PACKAGES = ("torch", "torchvision", "transformers")
# The GPU of predictions without a record of a real GPU.
USUAL = "h100-sxm"
# Stands before the keys of published figures in the names of cases.
PUBLISHED = "published"


def main() -> int:
    """See above."""
    parser = suite.parser(__doc__)
    parser.add_argument("--update", action="store_true", help="keep what is found")
    arguments = parser.parse_args()
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {"made_with": made_with(), "predictions": {}}
    if kept["made_with"] != made_with() and not arguments.update:
        print(f"predicted.json was made with {kept['made_with']}, this is {made_with()}")
        return 1
    with tempfile.TemporaryDirectory(prefix="oomph-predictions-") as name:
        folder = Path(name)
        expected = None if arguments.update else kept["predictions"]
        status = suite.run("validation", cases(arguments, expected, folder), arguments, f"{'program':58}{'reserved':>16}")
        if arguments.update:
            found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
            keep(kept, dict(found))
            publish(kept["predictions"])
    return status


def made_with() -> dict[str, str]:
    """The versions that predictions depend on besides oomph's."""
    return {package: version(package) for package in PACKAGES}


def jobs() -> list[tuple[str, str, Job, bool, bool]]:
    """The predictions to make: the name of the case, its key, the job, whether its segments are kept, and whether it is fast."""
    recorded = records()
    wanted = []
    for program in chosen([]):
        for record in recorded.get(program.name, ()):
            wanted.append((f"{program.kind} {record.key}", record.key, Job.of(program, record.gpu["name"]), True, program.fast))
        if program.name not in recorded:
            key = f"{USUAL}: {program.name}"
            wanted.append((f"{program.kind} {key}", key, Job.of(program, USUAL), False, program.fast))
    return wanted + [(f"{PUBLISHED} {figure.job.key}", figure.job.key, figure.job, False, figure.fast) for figure in figures()]


def cases(arguments: argparse.Namespace, kept: dict | None, folder: Path) -> list[suite.Case]:
    """A case for each prediction, and a case for the document. With `kept`, both must be equal to the kept ones; new predictions have to be
    requested.
    """
    missing = {program.name: program.missing for program in chosen([]) if program.missing}
    oomph = arguments.oomph.absolute()
    rows = [
        suite.Case(name, partial(outcome, oomph, key, job, segments, kept, folder / f"{number}.json", missing.get(job.key)), is_extra=not is_fast)
        for number, (name, key, job, segments, is_fast) in enumerate(jobs())
        if kept is None or is_fast or key in kept or arguments.words
    ]
    return rows if kept is None else [*rows, suite.Case("docs/ACCURACY.md", partial(check_document, kept))]


def outcome(oomph: Path, key: str, job: Job, segments: bool, kept: dict | None, path: Path, missing: list[str] | None) -> str:
    """Makes a prediction and writes it to `path`; with `kept`, compares it."""
    if missing:
        raise suite.Skip(f"{', '.join(missing)} is not installed")
    found = predict(oomph, job, segments)
    path.write_text(json.dumps([key, found]), encoding="utf-8")
    if kept is not None:
        assert kept.get(key) == found, f"kept is {kept.get(key)}, predicted {found} (--update keeps it)"
    return f"{found['reserved_bytes']:16,}"


def keep(kept: dict, found: dict) -> None:
    """Writes predicted.json, a line for each prediction, for readable differences in version control."""
    known = {record.key for several in records().values() for record in several} | {figure.job.key for figure in figures()}
    known |= {f"{USUAL}: {program.name}" for program in chosen([])}
    merged = kept["predictions"] | found
    kept["made_with"] = made_with()
    kept["predictions"] = {key: merged[key] for key in sorted(merged) if key in known}
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in kept["predictions"].items())
    KEPT.write_text(f'{{\n"made_with": {json.dumps(made_with())},\n"predictions": {{\n{lines}\n}}\n}}\n', encoding="utf-8")


def render(predictions: dict) -> str:
    """The text of docs/ACCURACY.md."""
    return document(predictions, chosen([]), records(), figures(), version("torch"))


def publish(predictions: dict) -> None:
    """Writes the document."""
    DOCUMENT.write_text(render(predictions), encoding="utf-8")


def check_document(predictions: dict) -> None:
    """Checks that the document follows from the records, the published figures and the kept predictions."""
    is_kept = DOCUMENT.exists() and DOCUMENT.read_text(encoding="utf-8") == render(predictions)
    assert is_kept, "docs/ACCURACY.md is not what the records and the kept predictions give (--update writes it)"


if __name__ == "__main__":
    sys.exit(main())
