"""The verdicts of `oomph sweep` on grids whose answers are arithmetic.

    python tests/sweeps/check.py --oomph target/release/oomph [WORD ...]

Each folder of `blind` is a program with `case.json`: the words of the command line, and the verdict of each configuration, worked out by hand with
a margin of a tenth of the GPU's memory. With `--all` every configuration also runs by itself, and a replayed one must have the figures of the run.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import suite

# What a replay must say as a run says it.
FIGURES = ("verdict", "need_bytes", "allocated_bytes", "reserved_bytes", "error")


def main() -> int:
    """Exit status 1 if a verdict is not as its case says."""
    arguments = suite.parser(__doc__).parse_args()
    cases = [case(arguments, path.parent) for path in sorted((HERE / "blind").glob("*/case.json"))]
    return suite.run("sweeps", cases, arguments)


def case(arguments: argparse.Namespace, source: Path) -> suite.Case:
    """The case of a program. `open` in its file is the reason why it is not held yet."""
    described = json.loads((source / "case.json").read_text(encoding="utf-8"))
    body = partial(score, arguments.oomph.absolute(), source, arguments.all)
    return suite.Case(f"blind {source.name}", body, memory=3, group="half blind", open=described.get("open", ""))


def score(oomph: Path, source: Path, runs_all: bool) -> None:
    """Compares the points of a sweep with the case."""
    case = json.loads((source / "case.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="oomph-sweeps-") as made:
        folder = Path(made) / source.name
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("case.json"))
        points = sweep(oomph, folder, case)
        for index, expected in enumerate(case["points"]):
            found = [point for point in points if is_meant(point, expected)]
            assert found, f"no point has {expected}; there are {[point['params'] for point in points]}"
            verdicts = {point["verdict"].replace("tight", "fits") for point in found}
            said = [(point["gpu"], point["need_bytes"], point["error"]) for point in found]
            assert verdicts == {expected["verdict"]}, f"{expected}: found {verdicts}, {said}; {case['why']}"
            words = case.get("commands", {}).get(str(index), "")
            assert words in found[0]["command"], f"{words!r} is not in {found[0]['command']!r}"
        if runs_all:
            alone = {key_of(point): point for point in sweep(oomph, folder, case, "--run-all")}
            for point in points:
                run = alone[key_of(point)]
                assert all(point[name] == run[name] for name in FIGURES), f"{point}\nby itself: {run}"


def sweep(oomph: Path, folder: Path, case: dict, *words: str) -> list[dict]:
    """The points of a sweep."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("OOMPH_")}
    environment |= {"OOMPH_CACHE_DIR": str(folder.parent / "cache")}
    # Words after `--` start a Python by name.
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    command = [str(oomph), "sweep", "--json", "--python", sys.executable, *words, *case["words"], *case["program"]]
    ended = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert ended.returncode in (0, 1), f"status {ended.returncode} of {command}\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}"
    return json.loads(ended.stdout)["points"]


def is_meant(point: dict, expected: dict) -> bool:
    """True if a point has the configuration, and the GPU if one is named."""
    return point["params"] == expected["params"] and expected.get("gpu", "") in point["gpu"]


def key_of(point: dict) -> tuple:
    """The configuration and the GPU."""
    return json.dumps(point["params"], sort_keys=True), point["gpu"]


if __name__ == "__main__":
    sys.exit(main())
