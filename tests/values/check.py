"""Values on the phantom beside a CPU's: values known to the agent are right, and the required values are known.

    python tests/values/check.py --oomph target/release/oomph [WORD ...]

The code was written with `work.py`; `blind.py` and `blind_more.py` were written by somebody else before the code ran them. `random` are
programs made of a seed. Each case is run on the CPU and on the phantom in a single process; an answer that differs from the CPU's is wrong
unless the agent noted an unknown value.
"""

import json
import math
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import corpus
import suite

PATIENCE = 900
# Cases that must be known and are not, in part: `searchsorted`, `bucketize`, `isin` and powers of two tensors, samplers by weights, copies of
# storages (`deepcopy`, `torch.load`), results in `out=`, `.data`, operators on lists, and a few that are rare.
KNOWN = frozenset(
    (
        "packed and padded sequences",
        "a sampler by searchsorted",
        "draws are valid draws",
        "schedules on the device",
        "buckets and histograms",
        "flips, rolls and triangles",
        "zero dimensions with Python numbers",
        "complex numbers",
        "empty tensors",
        "detached tensors and data",
        "copies between slices",
        "deep copies",
        "saved and loaded",
        "copies of a state",
        "counters of normalisation",
        "parameters as they were made",
        "steps counted by an optimizer on the device",
        "lists of tensors changed at once",
        "what was not known made known again",
    )
)
# Texts of PyTorch's errors for what only a CPU runs: a dtype, an operator of numbers alone with a result on the device.
REFUSED = ("not supported", "too many CPU scalars")
# Cases in one process.
CHUNK = 30
SEEDS = 20
PROGRAMS_OF_A_SEED = 200
# Of the seeds.
SHARE = 0.02


def main() -> int:
    """Exit status 1 if a known value is wrong, or a required value unknown."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = arguments.oomph.absolute()
    cases = [
        suite.Case(f"{path.stem} {first}-{first + CHUNK - 1}", partial(judge, oomph, str(path), first, first + CHUNK))
        for path in (HERE / "work.py", HERE / "blind.py", HERE / "blind_more.py")
        for first in range(0, len(corpus.load(path)), CHUNK)
    ]
    cases += [
        suite.Case(f"random {seed}", partial(judge, oomph, str(seed), 0, PROGRAMS_OF_A_SEED), group="random", share=SHARE)
        for seed in range(SEEDS)
    ]
    return suite.run("values", cases, arguments)


def judge(oomph: Path, corpus: str, first: int, last: int) -> str:
    """Runs a part of a corpus; returns the number of known values."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "answers.json")
        words = [oomph, "check", "--json", "--keep-files", "--gpu", "rtx-4090", "--python", Path(sys.executable).absolute()]
        program = [HERE / "driver.py", corpus, output, first, last]
        done = subprocess.run(list(map(str, words + program)), capture_output=True, text=True, timeout=PATIENCE, cwd=folder)
        assert output.exists(), f"no answers; status {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        rows = json.loads(output.read_text(encoding="utf-8"))
    problems = [problem for row in rows if (problem := problem_of(row))] + stale_of(rows)
    known = sum(not row["noted"] for row in rows)
    assert not problems, "\n".join([f"{len(problems)} of {len(rows)} wrong, {known} known", *problems])
    return f"{known} of {len(rows)} known"


def problem_of(row: dict) -> str | None:
    """The problem of a case; `None` without one."""
    is_right = is_alike(row["expected"], row["found"])
    shown = f"{row['name']}: {row['found']}, expected {row['expected']}" + (f"\n{row['source']}" if row["name"].startswith("seed") else "")
    if str(row["expected"]).startswith("error"):
        if row["name"].startswith("seed"):
            return None  # a program that no device runs
        return f"does not run on the CPU: {shown}"
    if row["name"].startswith("seed") and str(row["found"]).startswith("error") and (row["noted"] or any(text in row["found"] for text in REFUSED)):
        return None  # a shape of unknown values; what a GPU refuses and a CPU does not
    if row["name"].startswith("seed") and row["decided"]:
        return None  # an unknown value decided a size
    if not row["noted"] or row["name"].startswith("seed"):
        return None if is_right else f"WRONG {shown}"
    if str(row["found"]).startswith("error"):
        return f"unknown, and ends: {shown}"
    return f"unknown: {shown}" if row["known"] is True and row["name"] not in KNOWN else None


def stale_of(rows: list[dict]) -> list[str]:
    """The cases that are said not to be known, and are."""
    return [f"known by now, and no longer to be in KNOWN: {row['name']}" for row in rows if row["name"] in KNOWN and not row["noted"]]


def is_alike(one, other) -> bool:
    """True for equal values, numbers up to rounding; a value read by a random program and noted as unknown may be anything."""
    if other == "unknown":
        return True
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_alike(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-7) or (math.isnan(one) and math.isnan(other))
    return type(one) is type(other) and one == other


if __name__ == "__main__":
    sys.exit(main())
