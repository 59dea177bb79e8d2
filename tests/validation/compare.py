"""Predicts the programs of the suite and those of published figures, and holds docs/ACCURACY.md to it. Needs no GPU.

    python tests/validation/compare.py --oomph PATH                  the fast ones, in some minutes
    python tests/validation/compare.py --oomph PATH --all --update   all, kept in predicted.json and docs/ACCURACY.md
    python tests/validation/compare.py --oomph PATH [NAME ...]       these programs or kinds alone; `published`: the figures of others

A prediction is what `oomph check` says. It is made with the PyTorch of the Python that runs this file. predicted.json keeps each, so
that the document can be written without running all: it fails here when a prediction is no longer the kept one, and when
the document is not what the records, the published figures and the kept predictions give. Exit status 0: all as kept.
"""

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

sys.dont_write_bytecode = True

from accuracy import document
from catalogue import HERE, ROOT, chosen
from predict import Failed, Job, predict
from published import figures
from truth import records

KEPT = HERE / "predicted.json"
DOCUMENT = ROOT / "docs" / "ACCURACY.md"
PACKAGES = ("torch", "torchvision", "transformers")
AT_ONCE = 2
# The GPU on which programs are predicted of which no record of a real one is kept.
USUAL = "h100-sxm"
# The name of the published figures, among those of kinds of programs.
PUBLISHED = "published"


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oomph", type=Path, required=True, help="the binary")
    parser.add_argument("--all", action="store_true", help="not the fast ones alone")
    parser.add_argument("--update", action="store_true", help="keep what is found")
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs, kinds of them, or `published`, instead")
    arguments = parser.parse_args()
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {"made_with": made_with(), "predictions": {}}
    if kept["made_with"] != made_with() and not arguments.update:
        print(f"predicted.json was made with {kept['made_with']}, this is {made_with()}")
        return 1
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(lambda job: outcome(arguments.oomph.absolute(), job), jobs(arguments)))
    problems = [problem for _, problem in found if isinstance(problem, str)]
    predictions = {key: value for key, value in found if not isinstance(value, str)}
    if arguments.update:
        keep(kept, predictions)
    else:
        problems += differences(kept["predictions"], predictions)
    problems += publish(kept["predictions"], arguments.update)
    print("\n".join(problems))
    print(f"{len(predictions)} predicted, {len(problems)} problems")
    return 1 if problems else 0


def made_with() -> dict[str, str]:
    """What predictions depend on besides oomph."""
    return {package: version(package) for package in PACKAGES}


def jobs(arguments: argparse.Namespace) -> list[tuple[str, Job, bool]]:
    """What to predict: its key, the job, and whether segments are wanted of it."""
    recorded = records()
    names = [name for name in arguments.names if name != PUBLISHED]
    programs = [program for program in chosen(names) if arguments.all or names or program.fast]
    programs = [] if arguments.names and not names else programs
    wanted = []
    for program in programs:
        if program.missing:
            print(f"{program.name}: skipped, {', '.join(program.missing)} is not installed")
        elif program.name in recorded:
            wanted += [(record.key, Job.of(program, record.gpu["name"]), True) for record in recorded[program.name]]
        else:
            wanted.append((f"{USUAL}: {program.name}", Job.of(program, USUAL), False))
    if not arguments.names or PUBLISHED in arguments.names:
        wanted += [(figure.job.key, figure.job, False) for figure in figures() if arguments.all or arguments.names or figure.fast]
    return wanted


def outcome(oomph: Path, wanted: tuple[str, Job, bool]) -> tuple[str, dict | str]:
    """The prediction or what went wrong, said on a line at once."""
    key, job, segments = wanted
    started = time.perf_counter()
    try:
        found = predict(oomph, job, segments)
    except (Failed, subprocess.TimeoutExpired) as error:
        print(f"{key:72} FAILED", flush=True)
        return key, str(error)
    print(f"{key:72}{found['reserved_bytes']:16,} {time.perf_counter() - started:6.1f} s", flush=True)
    return key, found


def differences(kept: dict, found: dict) -> list[str]:
    """What is predicted and is not what is kept."""
    return [f"{key}: kept is {kept.get(key)}, predicted {value} (--update keeps it)" for key, value in found.items() if kept.get(key) != value]


def keep(kept: dict, found: dict) -> None:
    """Writes predicted.json, a line for each, so that a difference reads well in version control."""
    known = {record.key for several in records().values() for record in several} | {figure.job.key for figure in figures()}
    known |= {f"{USUAL}: {program.name}" for program in chosen([])}
    merged = kept["predictions"] | found
    kept["made_with"] = made_with()
    kept["predictions"] = {key: merged[key] for key in sorted(merged) if key in known}
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in kept["predictions"].items())
    KEPT.write_text(f'{{\n"made_with": {json.dumps(made_with())},\n"predictions": {{\n{lines}\n}}\n}}\n', encoding="utf-8")


def publish(predictions: dict, update: bool) -> list[str]:
    """Writes the document, or says that it is not what it should be."""
    text = document(predictions, chosen([]), records(), figures(), version("torch"))
    if update:
        DOCUMENT.write_text(text, encoding="utf-8")
    elif not DOCUMENT.exists() or DOCUMENT.read_text(encoding="utf-8") != text:
        return ["docs/ACCURACY.md is not what the records and the kept predictions give (--update writes it)"]
    return []


if __name__ == "__main__":
    sys.exit(main())
