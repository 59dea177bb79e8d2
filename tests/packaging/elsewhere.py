"""Runs the commands that need neither Linux nor PyTorch, on this system: for the wheels of Windows and macOS.

    python tests/packaging/elsewhere.py                                 the installed `oomph`
    python tests/packaging/elsewhere.py -- wine64 target/x86_64-pc-windows-gnu/release/oomph.exe
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True

from chroot import ERROR, PROGRAM

# A mistake with a fix.
MENDED = "import torch\ntotal = 0\nfor step in range(9):\n    loss = model(x).sum()\n    loss.backward()\n    total += loss\n"
FRAMES = r"""Traceback (most recent call last):
  File "C:\Users\ann\train.py", line 12, in <module>
    y = model(x)
  File "C:\venv\Lib\site-packages\torch\nn\modules\linear.py", line 125, in forward
    return F.linear(input, self.weight, self.bias)
"""
LOG = f"step 3\n{FRAMES}{ERROR}"
CELL = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": PROGRAM.splitlines(keepends=True)}
NOTEBOOK = json.dumps({"cells": [CELL], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
# The refusal of a command, with the next step.
REFUSED = r"^error: `oomph {}` needs Linux, and this oomph is for \w+\r?\nhint: [^\n]+\n$"


@dataclass(frozen=True)
class Step:
    """A command, its exit status, and a pattern of its output."""

    words: tuple[str, ...]
    status: int
    expected: str
    stdin: str = ""
    # A file of the folder, and a part of its text after the command.
    file: str = ""
    contents: str = ""
    files: dict[str, str] = field(default_factory=dict)


STEPS = [
    Step(("--version",), 0, r"^oomph \d+\.\d+\.\d+\r?\n$"),
    Step(("explain", "-"), 1, r"(?s)3\.07 GiB.*expandable_segments", ERROR),
    Step(("explain", "my logs/a crash.log"), 1, r"train\.py:12", files={"my logs/a crash.log": LOG}),
    Step(("explain", "windows.log"), 1, r"train\.py:12", files={"windows.log": LOG.replace("\n", "\r\n")}),
    Step(("explain", "my logs"), 1, r"train\.py:12"),
    Step(("explain", "--json", "windows.log"), 1, r'^\{\r?\n  "schema_version"'),
    Step(("--agent", "explain", "windows.log"), 1, r'^\{\r?\n?\s*"headline"'),
    Step(("explain", "--html", "page.html", "windows.log"), 1, r"3\.07 GiB", file="page.html", contents="<!doctype html>"),
    Step(("explain", "nothere.log"), 2, r"^error: there is no file `nothere\.log`\r?\nhint: "),
    Step(("lint", "-"), 1, r"graph-in-collection", PROGRAM),
    Step(("lint", "train.ipynb"), 1, r"graph-in-collection", files={"train.ipynb": NOTEBOOK}),
    Step(("lint", "--fix", "train.py"), 0, r"1 mended", file="train.py", contents="total += loss.detach()\r\n", files={"train.py": MENDED.replace("\n", "\r\n")}),
    Step(("lint", "--diff", "my code"), 1, r"(?s)--- .*\+\+\+ ", files={"my code/train.py": MENDED}),
    Step(("lint", "--format", "sarif", "my code"), 1, r'"uri": "my%20code/train\.py"'),
    Step(("lint", "--prove", "train.py"), 2, REFUSED.format("lint --prove")),
    Step(("gpus", "rtx-4090"), 0, r"NVIDIA GeForce RTX 4090"),
    Step(("rule", "graph-in-collection"), 0, r"graph"),
    Step(("remedy", "gradient-accumulation"), 0, r"accumulat"),
    Step(("skill",), 0, r"oomph explain"),
    Step(("completions", "powershell"), 0, r"Register-ArgumentCompleter"),
    Step(("explain", "--pid", "1"), 2, REFUSED.format("explain --pid")),
    *(Step(words, 2, REFUSED.format(words[0])) for words in [("check", "train.py"), ("fit", "train.py"), ("run", "python", "train.py"), ("top",), ("mcp",)]),
]


def main() -> int:
    """Exit status 1 for any problem; each is printed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", nargs="*", default=["oomph"], help="the words that start oomph")
    arguments = parser.parse_args()
    command = [locate(word) for word in arguments.command]
    with tempfile.TemporaryDirectory(prefix="oomph elsewhere ") as folder:
        problems = [problem for step in STEPS if (problem := run(command, step, Path(folder)))]
        if arguments.command == ["oomph"]:
            # The package of the installed wheel.
            problems += filter(None, [run([sys.executable, "-m", "oomph"], STEPS[0], Path(folder))])
    print("\n".join(problems) or f"{len(STEPS)} commands answer as expected")
    return bool(problems)


def locate(word: str) -> str:
    """The whole path of a program or a file, since each command runs in another folder; other words stay."""
    found = Path(shutil.which(word) or word)
    return str(found.resolve()) if found.is_file() else word


def run(command: list[str], step: Step, folder: Path) -> str | None:
    """Runs a step; returns the difference from its expectation."""
    for name, text in step.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(text.encode())
    ended = subprocess.run([*command, *step.words], input=step.stdin.encode(), capture_output=True, cwd=folder, check=False)
    output = (ended.stdout + ended.stderr).decode("utf-8")
    print(f"$ oomph {' '.join(step.words)}\n{output[:200].rstrip()}\n")
    if ended.returncode != step.status or not re.search(step.expected, output):
        return f"{step.words}: exit status {ended.returncode}, expected {step.status} and `{step.expected}`: {output}"
    if step.file and step.contents not in (folder / step.file).read_bytes().decode():
        return f"{step.words}: `{step.contents}` is not in {step.file}"
    return None


if __name__ == "__main__":
    sys.exit(main())
