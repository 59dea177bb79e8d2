"""What linters find of the memory mistakes in the cases of `crates/lint`, and how fast they are.

    python benches/lint.py --oomph target/release/oomph [--tools ENVIRONMENT] [--files FOLDER] [--most-lines 60000]

`--tools` is a virtual environment with the other linters (`pip install torchfix torch-preflight hotpath-ai ml-code-smell-detector
pylint ruff flake8 flake8-bugbear`); what it lacks is skipped, and said.

The cases are oomph's own: written beside its rules, so it finds all of them, and only the others' figures say something. Each block of
Python in `crates/lint/cases` becomes a file, without its marks. The count is generous to the others:

    hits            marked lines on which a tool says anything at all, of whatever code
    false alarms    blocks without a mark where it says something of a code by which it has scored a hit on the same page

Tools are run with all of their rules that are about what code does: names that are not bound, docstrings, annotations and layout are left
out. All are whole processes with one job; the seconds are those on a core, which other work on the machine does not lengthen.

With `--files`, oomph and TorchFix read the same files: those of the folder that use torch, in the order of their names, up to so many lines.
"""

import argparse
import collections
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable

CASES = pathlib.Path(__file__).resolve().parent.parent / "crates/lint/cases"

MARK = re.compile(r"\s*# error:(.*)")

# A finding: the file's name, the line, the code.
Finding = tuple[str, int, str]


def main() -> None:
    """Runs every tool on the cases, then the two that are compared for speed on other files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oomph", required=True, type=pathlib.Path)
    parser.add_argument("--tools", type=pathlib.Path, help="a virtual environment")
    parser.add_argument("--files", type=pathlib.Path, help="a folder of programs that use torch")
    parser.add_argument("--most-lines", type=int, default=60_000)
    arguments = parser.parse_args()
    arguments.oomph = arguments.oomph.resolve()
    scripts = (arguments.tools or pathlib.Path("none")).resolve() / "bin"
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    with tempfile.TemporaryDirectory() as folder:
        compare(pathlib.Path(folder), arguments.oomph, scripts)
    if arguments.files:
        with tempfile.TemporaryDirectory() as folder:
            lines = gather(arguments.files, pathlib.Path(folder), arguments.most_lines)
            speed(pathlib.Path(folder), lines, arguments.oomph, scripts)


def compare(folder: pathlib.Path, oomph: pathlib.Path, scripts: pathlib.Path) -> None:
    """The table of hits and false alarms."""
    marks, clean, lines = write_cases(folder)
    print(f"{len(marks)} mistakes, {len(clean)} blocks without one, {lines} lines; all written for oomph\n")
    print(f"{'':<24}{'hits':>12}{'false alarms':>14}{'seconds':>10}")
    for name, command, read in tools(oomph, scripts):
        if not shutil.which(command[0]):
            print(f"{name:<24}{'not installed':>36}")
            continue
        seconds, output = run(command, folder)
        found = read(output, folder)
        hits, alarms = judged(found, marks, clean)
        print(f"{name:<24}{f'{hits} of {len(marks)}':>12}{f'{alarms} of {len(clean)}':>14}{seconds:>10.2f}", flush=True)


def write_cases(folder: pathlib.Path) -> tuple[set[tuple[str, int]], set[str], int]:
    """Writes each block to a file. The marked places, the files without any, and the number of lines."""
    marks, clean, lines = set(), set(), 0
    for page in sorted(CASES.glob("*.md")):
        for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)):
            name = f"{page.stem.replace('-', '_')}_{number}.py"
            here = {(name, at) for at, line in enumerate(block.splitlines(), 1) if MARK.search(line)}
            marks |= here
            clean |= set() if here else {name}
            (folder / name).write_text(re.sub(MARK, "", block))
            lines += block.count("\n")
    return marks, clean, lines


def judged(found: set[Finding], marks: set[tuple[str, int]], clean: set[str]) -> tuple[int, int]:
    """How many marked lines have a finding, and in how many blocks without a mark such a finding stands as well."""
    codes = {(page(name), code) for name, line, code in found if (name, line) in marks}
    hits = {(name, line) for name, line, _ in found} & marks
    return len(hits), len({name for name, _, code in found if (page(name), code) in codes} & clean)


def page(name: str) -> str:
    """The page of cases that a file is from."""
    return name.rsplit("_", 1)[0]


def run(command: list[str], folder: pathlib.Path) -> tuple[float, str]:
    """Runs a command in a folder: seconds on a core, and what it printed."""
    before = os.times()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    if done.returncode not in range(64):
        raise SystemExit(f"{command[0]} ended with {done.returncode}: {done.stderr[-500:]}")
    return seconds, done.stdout


def concise(pattern: str) -> Callable[[str, pathlib.Path], set[Finding]]:
    """Reads lines of one finding each."""
    expression = re.compile(pattern, re.MULTILINE)
    return lambda output, _: {(os.path.basename(at[1]), int(at[2]), at[3]) for at in expression.finditer(output)}


def preflight(output: str, _: pathlib.Path) -> set[Finding]:
    """Reads torch-preflight's JSON."""
    return {(os.path.basename(it["path"]), it["line"], it["code"]) for it in json.loads(output)["diagnostics"]}


def hotpath(output: str, _: pathlib.Path) -> set[Finding]:
    """Reads hotpath's report of a folder: a line for each file, and below it one for each finding."""
    found, name = set(), ""
    for line in output.splitlines():
        if re.fullmatch(r"\S+\.py", line):
            name = os.path.basename(line)
        elif place := re.match(r"\s+\[\w+\] \$+ (\w+) line (\d+):", line):
            found.add((name, int(place[2]), place[1]))
    return found


def smells(_: str, folder: pathlib.Path) -> set[Finding]:
    """Reads ml-code-smell-detector's table. Most of it names no line, and so is no hit."""
    with open(folder / "smells/analysis_report.csv", newline="") as table:
        rows = list(csv.DictReader(table))
    places = [(row, re.match(r"Line (\d+)", row["Location"])) for row in rows]
    return {(os.path.basename(row["File Path"]), int(at[1]), row["Smell/Checker Name"]) for row, at in places if at}


def tools(oomph: pathlib.Path, scripts: pathlib.Path) -> list[tuple[str, list[str], Callable]]:
    """Name, command and reader of each."""
    flake8 = concise(r"^(.+?):(\d+):\d+:? (\w+) ")
    ruff = "A,ASYNC,B,BLE,C4,F,FURB,NPY,PERF,PL,RET,RUF,S,SIM,TRY"
    files = concise(r"^(.+?):(\d+):\d+: \w+\[([\w-]+)\]")
    return [
        ("oomph", [str(oomph), "lint", "--pedantic", "--format", "concise", "."], files),
        ("torchfix", [f"{scripts}/torchfix", "-j", "1", "--select=ALL", "."], flake8),
        ("torch-preflight", [f"{scripts}/torch-preflight", "check", "-j", "1", "-f", "json", "."], preflight),
        ("hotpath-ai", [f"{scripts}/hotpath", "analyze", "--include-heuristics", "."], hotpath),
        ("ml-code-smell-detector", [f"{scripts}/ml_smell_detector", "analyze", ".", "--output-dir", "smells"], smells),
        ("ruff", [f"{scripts}/ruff", "check", "--no-cache", "--isolated", "--select", ruff, "--ignore", "F821",
                  "--output-format", "concise", "."], flake8),
        ("pylint", [f"{scripts}/pylint", "--disable=all", "--enable=E,W,R", "--disable=undefined-variable,import-error,duplicate-code",
                    "--msg-template={path}:{line}:{column}: {msg_id} {msg}", "--recursive=y", "."], flake8),
        ("flake8 with bugbear", [f"{scripts}/flake8", "--isolated", "-j", "1", "--select=B,F", "--ignore=F821", "."], flake8),
    ]


def gather(source: pathlib.Path, folder: pathlib.Path, most: int) -> int:
    """Copies the files that use torch; how many lines they have."""
    total = 0
    for number, path in enumerate(sorted(source.rglob("*.py"))):
        data = path.read_bytes()
        if re.search(rb"^\s*(import|from) torch\b", data, re.MULTILINE) and total < most:
            (folder / f"{number}_{path.name}").write_bytes(data)
            total += data.count(b"\n")
    return total


def speed(folder: pathlib.Path, lines: int, oomph: pathlib.Path, scripts: pathlib.Path) -> None:
    """oomph and TorchFix on the same files."""
    print(f"\n{lines} lines of files that use torch\n")
    print(f"{'':<24}{'seconds on a core':>20}{'lines a second':>16}")
    spent = collections.OrderedDict()
    for name, command, _ in tools(oomph, scripts)[:2]:
        if not shutil.which(command[0]):
            print(f"{name:<24}{'not installed':>36}")
            continue
        times = []
        started = time.monotonic()
        while not times or (len(times) < 5 and time.monotonic() - started < 10):
            times.append(run(command, folder)[0])
        spent[name] = sorted(times)[len(times) // 2]
        print(f"{name:<24}{spent[name]:>20.3f}{lines / spent[name]:>16,.0f}", flush=True)
    if len(spent) == 2:
        print(f"\noomph is {spent['torchfix'] / spent['oomph']:.0f} times as fast")


if __name__ == "__main__":
    main()
