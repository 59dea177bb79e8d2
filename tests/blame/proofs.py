"""Proofs beside the truth: what a report says of a program without its cause, and what the repaired program takes.

    python tests/blame/proofs.py --oomph target/release/oomph [WORD ...]

A proof is a replay of the recorded program without the cause, up to the refused request. The script compares the proof with:

- `saves_mib` of the program, by arithmetic: the bytes that the peak loses;
- the allocated peak of the twin, the same program with the cause repaired, checked on a large device. A twin does something else in place of
  the cause, and goes on behind the request, so the peak may be higher for a reason that the `why` of the program states.

Prints one line for each program, and the median of the differences. Nothing fails: this is a measurement.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import expect
import judge
import suite

# As large as the largest programs need.
LARGE = "4096GiB"


def main() -> None:
    """Compares each program that runs out with its arithmetic and its twin."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = arguments.oomph.absolute()
    programs = list_programs()
    chosen = [path for path in programs if runs_out(path) and is_chosen(path, arguments.words)]
    with ThreadPoolExecutor(max_workers=arguments.jobs or os.cpu_count()) as pool:
        rows = list(pool.map(lambda path: compare(oomph, path, programs), chosen))
    print(f"{'program':<32} {'cause':<20} {'before':>9} {'without':>9} {'saves':>9} {'by hand':>9} {'twin':>9}  difference")
    for row in rows:
        print(row["line"])
    for what in ("by hand", "twin"):
        found = [row[what] for row in rows if row[what] is not None]
        if found:
            print(f"{what}: {len(found)} programs, median difference {statistics.median(found):.1f} MiB, largest {max(found):.1f} MiB")


def list_programs() -> list[Path]:
    """The programs of both halves."""
    return [path for half in judge.HALVES for path in sorted(HERE.glob(f"{half}/*.py"))]


def runs_out(path: Path) -> bool:
    """True for a program with a cause, not a twin."""
    return expect.read(path)["truth"] != "fits"


def is_chosen(path: Path, words: list[str]) -> bool:
    """True if a word is part of the name, or there are no words."""
    return not words or any(word in path.stem for word in words)


def compare(oomph: Path, path: Path, programs: list[Path]) -> dict:
    """One row: the figures of the first finding's proof, and the differences in MiB."""
    expected = expect.read(path)
    report = examine(oomph, path, expected["vram"])
    first = report["findings"][0] if report["findings"] else {}
    row = {"by hand": None, "twin": None}
    without = first.get("without") if first.get("rule") in expected["first_finding"] else None
    line = f"{path.stem:<32} {expected['cause']:<20} "
    if without is None:
        return row | {"line": f"{line}no proof: {first.get('rule')}"}
    before, after = without["before_bytes"] / judge.MIB, without["after_bytes"] / judge.MIB
    line += f"{before:9.1f} {after:9.1f} {before - after:9.1f} "
    by_hand = expected.get("saves_mib")
    twin = find_twin(path, expected["cause"], programs)
    peak = examine(oomph, twin, LARGE)["need"]["allocated_bytes"] / judge.MIB if twin else None
    if by_hand is not None:
        row["by hand"] = abs(before - after - by_hand)
    if peak is not None:
        row["twin"] = abs(after - peak)
    line += f"{'-' if by_hand is None else f'{by_hand:.1f}':>9} {'-' if peak is None else f'{peak:.1f}':>9}  "
    return row | {"line": line + ", ".join(f"{row[what]:.1f} MiB {what}" for what in ("by hand", "twin") if row[what] is not None)}


def find_twin(path: Path, cause: str, programs: list[Path]) -> Path | None:
    """The program of the same half and cause that fits and has the beginning of its name in common with `path`."""
    word = path.stem.split("_")[0]
    twins = (other for other in programs if other.parent == path.parent and other.stem.split("_")[0] == word)
    return next((other for other in twins if not runs_out(other) and expect.read(other)["cause"] == cause), None)


def examine(oomph: Path, path: Path, vram: str) -> dict:
    """The report of `oomph check --json`."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--json", "--gpu", "rtx-4090", "--vram", vram, "--python", sys.executable]
        done = subprocess.run(list(map(str, [oomph, "check", *options, path])), capture_output=True, text=True, timeout=judge.PATIENCE, cwd=folder)
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
