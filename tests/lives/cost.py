"""The processor time of `oomph check` beside that of `oomph check --steps 3`, or of another build's `oomph check`, over programs.

    python tests/lives/cost.py --oomph target/release/oomph [--beside OTHER/oomph] tests/lives/work examples [PROGRAM ...]

A folder stands for the programs right inside it. The last line has the median of the ratios. A program that ends with another status than 0
or 1 has no ratio.
"""

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import expect

PATIENCE = 900


def main() -> int:
    """Exit status 1 if no program has a ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oomph", type=Path, required=True, help="the binary")
    parser.add_argument("--beside", type=Path, help="another build, whose `check` is measured in place of `check --steps 3`")
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH", help="programs, and folders of programs")
    arguments = parser.parse_args()
    programs = [program for path in arguments.paths for program in (sorted(path.glob("*.py")) if path.is_dir() else [path])]
    whole = [arguments.oomph.absolute(), "check"]
    commands = whole, [arguments.beside.absolute(), "check"] if arguments.beside else [*whole, "--steps", "3"]
    ratios = [ratio for program in programs if (ratio := compare(program, *commands)) is not None]
    if not ratios:
        return 1
    print(f"median {statistics.median(ratios):.2f} of {len(ratios)} programs, from {min(ratios):.2f} to {max(ratios):.2f}")
    return 0


def compare(program: Path, command: list, other: list) -> float | None:
    """The ratio of the two times of a program; prints both."""
    base = ["--json", "--gpu", "rtx-4090", *size_of(program), "--python", sys.executable, str(program)]
    (whole, status), (short, short_status) = measure([*command, *base]), measure([*other, *base])
    print(f"{program.stem:34}{whole:8.1f} s{short:8.1f} s{whole / short:8.2f}   status {status} and {short_status}", flush=True)
    return whole / short if {status, short_status} <= {0, 1} else None


def size_of(program: Path) -> list[str]:
    """The device of a program with a known answer."""
    lines = program.read_text(encoding="utf-8").splitlines()
    is_known = expect.OPENING in lines
    return ["--vram", expect.decode(list(expect.take_block(lines, lines.index(expect.OPENING) + 1, program.name)), 0, program.name)["vram"]] if is_known else []


def measure(command: list) -> tuple[float, int]:
    """The seconds of processor time of a command with all its processes, and its exit status."""
    before = os.times()
    status = subprocess.run(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE).returncode
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system, status


if __name__ == "__main__":
    sys.exit(main())
