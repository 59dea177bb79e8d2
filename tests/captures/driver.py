"""Runs cases of captures, each in its own process, and writes their results. `check.py` starts it under `oomph phantom`.

    python driver.py CORPUS OUTPUT FIRST LAST

PyTorch is imported once; a case is a fork of this process, which has not touched the device.
"""

import contextlib
import ctypes
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path

import torch

sys.path.insert(1, str(Path(__file__).parent.parent))

from corpus import load

# The answer of a program without one.
NOTHING = "nothing"


def main() -> None:
    """All cases of the range, in order."""
    corpus, output, first, last = sys.argv[1:]
    rows = [run(case) for case in load(corpus)[int(first) : int(last)]]
    Path(output).write_text(json.dumps(rows), encoding="utf-8")


def run(case) -> dict:
    """Runs a case in a fork; returns the name, the answer, and the text of the first error."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "row.json")
        child = os.fork()
        if child == 0:
            end_with(case, output)
        _, status = os.waitpid(child, 0)
        row = json.loads(output.read_text(encoding="utf-8")) if output.exists() else {}
    return {"name": case.name, "error": f"the process ended with status {status}", "trace": "", "answer": NOTHING, **row}


def open_library(name, *rest, **options):
    """`ctypes.CDLL`, except for the runtime: a program with that file open reaches NVIDIA's own code, which asks the driver for
    undocumented tables (docs/limits.md). The runtime's functions by name are the phantom's."""
    return _OPEN_LIBRARY(None if str(name).startswith("libcudart.so") else name, *rest, **options)


_OPEN_LIBRARY = ctypes.CDLL


def end_with(case, output: Path) -> None:
    """Runs a case, writes its row and ends the process at once, without handlers at exit."""
    row = {"error": None, "trace": "", "answer": NOTHING}
    try:
        os.chdir(output.parent)
        if case.settings:
            torch.cuda.memory._set_allocator_settings(case.settings)
        ctypes.CDLL = open_library
        scope = {"torch": torch}
        with contextlib.redirect_stdout(sys.stderr):
            exec(compile(case.code, case.name, "exec"), scope)
        row["answer"] = scope.get("answer", NOTHING)
    except BaseException as error:
        row |= {"error": str(first_of(error)), "trace": traceback.format_exc()}
    output.write_text(json.dumps(row), encoding="utf-8")
    os._exit(0)


def first_of(error: BaseException) -> BaseException:
    """The first raised error: leaving a capture after an error raises a second."""
    while error.__context__ is not None:
        error = error.__context__
    return error


if __name__ == "__main__":
    main()
