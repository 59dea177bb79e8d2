#!/usr/bin/env python3
"""Runs `oomph check` on programs without an optimizer that fill the device, and compares the growth with arithmetic.

    python tests/leaks/check.py --oomph target/debug/oomph --half work [WORD…]

The header of each program states the truth: `grows` (with the loop, the MiB that stay of each pass, the line of the allocation, and the last
pass), `too large` or `fits`. Growth must be in the first sentence of a growing program, and in no other report.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
GPU = "rtx-4090"


def read_header(path: Path) -> dict[str, str]:
    """The `# key = value` lines at the top of a program."""
    lines = (line for line in path.read_text().splitlines() if line.startswith("# ") and " = " in line)
    return {key.strip(): value.strip() for key, value in (line[2:].split(" = ", 1) for line in lines)}


def judge(path: Path, truth: dict[str, str], report: dict) -> str | None:
    """The mistake of a report; `None` if there is none."""
    growth = report.get("growth") or {}
    is_pass = growth.get("loop") is not None
    if truth["truth"] != "grows":
        fits = report["verdict"] != "oom"
        wrong_word = fits != (truth["truth"] == "fits")
        return "growth is said, and there is none" if is_pass else f"verdict {report['verdict']}" if wrong_word else None
    if not is_pass:
        return "no growth is said"
    for what, found, expected in (
        ("the loop", place(path, growth["loop"]), {truth["loop"]}),
        ("the line that allocates", place(path, growth.get("location") or {}), {it.strip() for it in truth["allocates"].split(",")}),
    ):
        if found not in expected:
            return f"{what} is {found}, expected {', '.join(sorted(expected))}"
    kept = float(truth["keeps_mib"]) * (1 << 20)
    if abs(growth["bytes_per_iteration"] - kept) > kept / 100:
        return f"{growth['bytes_per_iteration'] / (1 << 20):.2f} MiB stay of each pass, expected {truth['keeps_mib']}"
    first, last = (int(it) for it in truth["full_at"].split(".."))
    return None if first <= growth["full_at"] <= last else f"full at {growth['full_at']}, expected {first}..{last}"


def place(path: Path, location: dict) -> str:
    """`31`, or `file.py:31` for another file."""
    file, line = Path(location.get("file", "")), location.get("line")
    return str(line) if file.resolve() == path.resolve() else f"{file.name}:{line}"


def check(oomph: Path, python: Path, path: Path) -> tuple[str | None, str]:
    """The mistake, and the first sentence."""
    truth = read_header(path)
    options = ["--gpu", GPU, "--vram", truth["vram"], "--python", str(python), str(path)]
    done = subprocess.run([oomph, "check", "--json", *options], capture_output=True, text=True)
    if done.returncode == 2 or not done.stdout:
        return f"no answer: {done.stderr.strip()[-200:]}", ""
    brief = subprocess.run([oomph, "check", *options], capture_output=True, text=True).stdout
    return judge(path, truth, json.loads(done.stdout)), " ".join(brief.split("\n\n")[0].split())


def main() -> int:
    """0 if all are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oomph", type=Path, required=True)
    parser.add_argument("--python", type=Path, default=HERE.parents[1] / ".venv/bin/python")
    parser.add_argument("--half", choices=("work", "blind"), default="work")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    paths = [path for path in sorted((HERE / arguments.half).glob("*.py")) if not arguments.words or any(word in path.name for word in arguments.words)]
    wrong = 0
    for path in paths:
        problem, sentence = check(arguments.oomph.resolve(), arguments.python, path)
        wrong += problem is not None
        print(f"{'ok' if problem is None else 'WRONG':6} {path.stem:28} {sentence}" + (f"\n       {problem}" if problem else ""), flush=True)
    print(f"{len(paths) - wrong} of {len(paths)} right")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
