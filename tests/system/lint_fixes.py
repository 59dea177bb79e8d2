"""`oomph lint --fix` and `--diff`: files, standard input, notebooks."""

import json
import stat
import subprocess

from harness import Box, Case, contains, expect, like_others
from lint import lint, places
from mistake import BOTH, CLEAN, COLUMN, LINE, MENDED, MISTAKE, RULE


def fix_of_standard_input(box: Box) -> None:
    """The fixed text is printed unchanged otherwise, with escape sequences; a file of the given name is not touched."""
    escaped = "# \x1b[31m red\n"
    box.write("elsewhere.txt", escaped + MISTAKE)
    path = box.write("train.py", CLEAN)
    for words in ([], ["--stdin-filename", "train.py"]):
        with (box.work / "elsewhere.txt").open() as file:
            result = lint(box, "--fix", *words, "-", status=0, stdin=file)
        expect(result, result.stdout, escaped + MENDED, "what is printed")
        contains(result, result.stderr, "1 mended")
    expect(result, path.read_text(), CLEAN, "the file of that name")


def fix_of_several_names(box: Box) -> None:
    """A file with two hard links keeps both."""
    path = box.write("train.py", MISTAKE)
    (box.work / "other.txt").hardlink_to(path)
    result = lint(box, "--fix", "train.py", status=0)
    expect(result, (box.work / "other.txt").read_text(), MENDED, "the file under its other name")


def fix_that_cannot_be_written(box: Box) -> None:
    """A read-only file is reported and keeps its finding; the other files are fixed."""
    path = box.write("closed.py", MISTAKE)
    path.chmod(0o444)
    box.write("open.py", MISTAKE)
    result = box.run(*like_others(), box.oomph, "lint", "--fix")
    expect(result, result.status, 2, "the exit status")
    contains(result, result.stdout, "1 finding in 2 files", "1 mended", "cannot write", "it is as it was")
    expect(result, [path.read_text(), (box.work / "open.py").read_text()], [MISTAKE, MENDED], "the files")


def fix(box: Box) -> None:
    """Safe fixes are applied; permissions, line endings and links stay."""
    path = box.write("real.py", "")
    path.write_bytes(b"\xef\xbb\xbf" + MISTAKE.replace("\n", "\r\n").encode())
    path.chmod(0o750)
    (box.work / "train.py").symlink_to("real.py")
    result = lint(box, "--fix", "train.py", status=0)
    contains(result, result.stdout, "no finding in 1 file", "1 mended")
    expect(result, path.read_bytes(), b"\xef\xbb\xbf" + MENDED.replace("\n", "\r\n").encode(), "the file")
    expect(result, stat.S_IMODE(path.stat().st_mode), 0o750, "its permissions")
    expect(result, (box.work / "train.py").is_symlink(), True, "whether the link is one")


def unsafe_fixes(box: Box) -> None:
    """Unsafe fixes need `--unsafe-fixes`."""
    box.write("train.py", BOTH)
    result = lint(box, "--fix", "--json", "train.py", status=1)
    expect(result, (result.report["fixed"], places(result)), (1, [("train.py", "retain-graph-in-loop")]), "what is left")
    lint(box, "--fix", "--unsafe-fixes", "train.py", status=0)
    mended = BOTH.replace("=True", "=False").replace("total += loss", "total += loss.detach()")
    expect(result, (box.work / "train.py").read_text(), mended, "the file")


def diff(box: Box) -> None:
    """`--diff` prints the changes of `--fix` and writes no file."""
    box.write("my train.py", MISTAKE)
    result = lint(box, "--diff", "my train.py", status=1)
    contains(result, result.stderr, "1 finding in 1 file", "1 can be mended")
    expect(result, (box.work / "my train.py").read_text(), MISTAKE, "the file")
    subprocess.run(["patch", "-p1"], cwd=box.work, input=result.stdout.encode(), check=True, capture_output=True)
    expect(result, (box.work / "my train.py").read_text(), MENDED, "the patched file")
    result = lint(box, "--diff", "my train.py", status=0)
    expect(result, result.stdout, "", "the diff of a file without mistakes")


def notebook_of(*cells: str) -> str:
    """Returns a notebook of code cells after a text cell."""
    code = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell.splitlines(True)} for cell in cells]
    text = {"cell_type": "markdown", "metadata": {}, "source": ["# title"]}
    return json.dumps({"cells": [text, *code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def notebook(box: Box) -> None:
    """A finding names its cell; notebooks are not changed, and the report notes this."""
    text = notebook_of("import torch\n%matplotlib inline\n", MISTAKE)
    box.write("notes.ipynb", text)
    result = lint(box, "--format", "concise", status=1)
    contains(result, result.stdout, f"notes.ipynb:cell 3:{LINE}:{COLUMN}: error[{RULE}]")
    result = lint(box, "--fix", status=1)
    contains(result, result.stdout, "is a notebook, which --fix does not change: 1 to fix by hand")
    expect(result, (box.work / "notes.ipynb").read_text(), text, "the notebook")
    [found] = json.loads(lint(box, "--format", "sarif", status=1).stdout)["runs"][0]["results"]
    expect(result, found["locations"], [{"physicalLocation": {"artifactLocation": {"uri": "notes.ipynb"}}}], "the place in SARIF")
    expect(result, found["message"]["text"].startswith(f"cell 3, line {LINE}: "), True, "whether the message names the cell")


CASES = [
    Case("--fix", fix),
    Case("--fix of standard input", fix_of_standard_input),
    Case("--fix of several names", fix_of_several_names),
    Case("--fix that cannot be written", fix_that_cannot_be_written),
    Case("--unsafe-fixes", unsafe_fixes),
    Case("--diff", diff),
    Case("a notebook", notebook),
]
