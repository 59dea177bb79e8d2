"""Input without anything to check: a clear sentence, a hint, exit status 2, and no remains.

`box.assert_clean` runs after every case and checks that no process and no temporary file is left.
"""

import json
import os
from pathlib import Path

from harness import EXAMPLES, PROGRAMS, Box, Case, contains, expect
from refusals import MLP, MODEL, STEPS, refused, refuses, table

ARGUMENTS = (
    ("no script", (), ("required arguments were not provided",)),
    ("a script that is not there", ("nothing.py",), ("there is no file `nothing.py`",)),
    ("a folder", (PROGRAMS,), ("is a folder, expected a Python script", "python -m package")),
    ("an unknown GPU", ("--gpu", "rtx4091", MLP), ("no GPU is known as `rtx4091`", "rtx-4090", "oomph gpus")),
    ("an ambiguous GPU", ("--gpu", "rtx-6000", MLP), ("quadro-rtx-6000", "rtx-6000-ada-generation")),
    ("no name of a GPU", ("--gpu", "", MLP), ("GPU",)),
    ("--vram 0", ("--vram", "0", MLP), ("`0` is zero",)),
    ("--vram nonsense", ("--vram", "nonsense", MLP), ("`nonsense` is not a size", "16GiB")),
    ("--vram -1GiB", ("--vram=-1GiB", MLP), ("`-1GiB`",)),
    ("--vram beyond all bounds", ("--vram", "99999999999999TiB", MLP), ("99999999999999TiB",)),
    ("--vram less than a context", ("--vram", "100MiB", MLP), ("a CUDA context alone takes",)),
    ("--timeout 0", ("--timeout", "0", MLP), ("expected seconds above 0",)),
    ("--timeout nan", ("--timeout", "nan", MLP), ("nan",)),
    ("--steps -1", ("--steps=-1", MLP), ("-1",)),
    ("--fraction 2", ("--fraction", "2", MLP), ("expected a number from 0 to 1",)),
    ("--gpus 0", ("--gpus", "0", MLP), ("0 is not in 1..=64",)),
    ("--json and --format", ("--json", "--format", "concise", MLP), ("cannot be used with",)),
    ("--format nonsense", ("--format", "nonsense", MLP), ("nonsense", "concise, github, markdown, json")),
    ("--html in a folder that is not there", ("--html", "nowhere/page.html", "spins.py"), ("cannot write `nowhere/page.html`", "--html")),
    ("--json-file in a folder that is not there", ("--json-file", "nowhere/it.json", "spins.py"), ("cannot write `nowhere/it.json`", "--json-file")),
    ("--html of a folder", ("--html", "/", "spins.py"), ("`/` would be replaced, and is no file", "--html")),
    ("a misspelt option", ("--jsno", MLP), ("no option `--jsno`", "--help")),
    ("no command after --", ("--",), ("required arguments were not provided",)),
    ("a command that is not there", ("--", "no-such-program", "x"), ("`no-such-program` is not in PATH", "is the environment active?")),
    ("a command that is a path to nothing", ("--", "./no/such/program"), ("there is no program `./no/such/program`", "paths start at the current folder")),
    ("a command that is a folder", ("--", PROGRAMS), ("is a folder, expected a program", "python -m package")),
    ("a command that is a file without the right", ("--", MLP), ("is not executable", "-- python train.py")),
    ("a folder to save in that is a file", ("--save", MLP, MLP), ("cannot write the run folder", "mlp.py")),
)


def command_cannot_be_started(box: Box) -> None:
    """Every command that starts a program names the reason, though the system's error is the same for all."""
    (box.work / "moved").write_text("#!/no/such/bin/python\n")
    (box.work / "empty path").mkdir()
    (box.work / "moved").chmod(0o755)
    cases = (
        ("no-such-program", "`no-such-program` is not in PATH"),
        ("./missing", "there is no program `./missing`"),
        ("./empty path", "`./empty path` is a folder, expected a program"),
        ("./moved", "`./moved` cannot be started: its first line names `/no/such/bin/python`, which is not there"),
        ("", "`` is not in PATH"),
    )
    for command in ("check", "fit", "tune", "run", "phantom"):
        # Where oomph becomes the program, `execvp` runs such a text in a shell.
        for program, says in (it for it in cases if command == "run" or it[0] != "./text"):
            saved = ("--save", f"run of {cases.index((program, says))}") if command == "run" else ()
            result = box.run(box.oomph, command, *saved, "--", program)
            expect(result, result.status, 2, f"the exit status of `{command} -- {program}`")
            contains(result, result.stderr, says, "hint:")


def script_is_a_pipe(box: Box) -> None:
    """A pipe cannot be read again, and may never be written to."""
    os.mkfifo(box.work / "pipe")
    refuses(box, ("`pipe` is a pipe, expected a Python script", "write it to a file"), "pipe")


def reads_standard_input(box: Box) -> None:
    """A script's standard input is the user's."""
    box.write("script.py", "import sys\nassert sys.stdin.read() == 'words'\n" + MODEL + STEPS)
    words = box.write("input.txt", "words")
    with words.open() as stdin:
        result = box.check("script.py", stdin=stdin)
    expect(result, result.status, 0, "the exit status")


def shell_script(box: Box) -> None:
    """A shell script is run by bash, and that is said."""
    box.write("train.py", MODEL + STEPS)
    box.write("run.sh", f"'{box.python}' train.py\n")
    result = box.check("run.sh", "an argument")
    expect(result, result.status, 0, "the exit status")
    contains(result, result.stderr, "note: `run.sh` is a shell script")


def notebook(box: Box) -> None:
    """A notebook is run cell by cell; its lines are named by cell."""
    cells = [{"cell_type": "markdown", "source": "# Title"}, {"cell_type": "code", "source": "%matplotlib inline\n" + MODEL}, {"cell_type": "code", "source": STEPS}]
    box.write("train.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    result = box.check("-v", "train.ipynb")
    expect(result, result.status, 0, "the exit status")
    contains(result, result.stderr, "note: `train.ipynb` is a notebook")
    contains(result, result.stdout, "train.ipynb:cell ")


def environment_with(box: Box, version: str | None) -> Path:
    """A virtual environment, with a package `torch` that has nothing but `version.py`."""
    folder = box.folder / "environment"
    made = box.run(box.python, "-m", "venv", "--without-pip", folder)
    expect(made, made.status, 0, "the exit status of venv")
    if version is not None:
        [packages] = folder.glob("lib/python3*/site-packages")
        (packages / "torch").mkdir()
        (packages / "torch" / "__init__.py").write_text("raise ImportError('a stand-in')\n")
        (packages / "torch" / "version.py").write_text(version)
    return folder / "bin" / "python"


PYTHONS = (
    ("without torch", None, ("has no PyTorch", "--python")),
    ("with torch for the CPU", "__version__ = '2.11.0+cpu'\ncuda = None\n", ("2.11.0+cpu", "built without CUDA", "pip install torch", "no GPU is needed")),
    ("with an old torch", "__version__ = '1.13.1+cu117'\ncuda = '11.7'\n", ("1.13.1+cu117 is not supported", "2.5 to 2.", "--python")),
    ("with a torch of the future", "__version__ = '2.110.0'\ncuda = '15.0'\n", ("2.110.0 is not supported",)),
    ("with a damaged torch", "__version__ = \n", ("PyTorch", "version.py")),
    ("with a torch for ROCm", "__version__ = '2.11.0+rocm6.4'\ncuda = None\nhip = '6.4'\n", ("2.11.0+rocm6.4", "CUDA")),
)


def python_is_refused(box: Box, version: str | None, *says: str) -> None:
    """Missing parts of a Python are found before the script is started."""
    refuses(box, says, MLP, python=environment_with(box, version))


def active_environment_is_taken(box: Box) -> None:
    """Without --python the active environment's Python runs the script."""
    folder = environment_with(box, None).parents[1]
    result = box.run(box.oomph, "check", MLP, env={"VIRTUAL_ENV": folder})
    refused(result, str(folder), "has no PyTorch")


def no_python(box: Box) -> None:
    """A missing Python, and a file that is not a Python."""
    refuses(box, ("there is no Python", "/no/such/python", "--python"), MLP, python=Path("/no/such/python"))
    refuses(box, ("/bin/true",), MLP, python=Path("/bin/true"))


def torch_in_a_command_line(box: Box) -> None:
    """After `--` the Python is the user's choice, including its missing parts."""
    refuses(box, ("torch",), "--", environment_with(box, None), MLP)


def narrow_and_plain(box: Box, *words) -> None:
    """In a file: at most 80 columns, and no escape codes."""
    target = box.work / "report.txt"
    with target.open("w") as file:
        result = box.check(*words, stdout=file)
    lines = target.read_text(encoding="utf-8").splitlines()
    assert lines and result.status in (0, 1), result
    wide = [line for line in lines if len(line) > 80]
    assert not wide, "\n".join(["wider than 80 columns:", *wide])
    assert "\x1b" not in "\n".join(lines) + result.stderr, f"escape codes\n{result}"


NARROW = (
    ("mlp", ("--gpu", "rtx-4090", MLP)),
    ("gpt2 that does not fit", ("--gpu", "rtx-3060", EXAMPLES / "gpt2.py")),
    ("resnet50", ("--gpu", "h100-sxm", EXAMPLES / "resnet50.py", "--batch-size", "2")),
    ("value-dependent shapes", (PROGRAMS / "value_shapes.py",)),
)


CASES = [
    *table(lambda box, words, says: refuses(box, says, *words), ARGUMENTS, ""),
    *table(lambda box, version, says: python_is_refused(box, version, *says), PYTHONS, "a Python "),
    *table(lambda box, words: narrow_and_plain(box, *words), NARROW, "80 plain columns: "),
    Case("commands that cannot be started", command_cannot_be_started),
    Case("a script that is a pipe", script_is_a_pipe),
    Case("a shell script", shell_script),
    Case("a notebook", notebook),
    Case("standard input is the script's", reads_standard_input),
    Case("the active environment's Python", active_environment_is_taken),
    Case("a Python that is none", no_python),
    Case("a command line without torch", torch_in_a_command_line),
]
