"""`%%oomph check`: the session's cells and a new cell, dry-run in a process of their own.

Note [Numbers of cells]
~~~~~~~~~~~~~~~~~~~~~~~
The cells are written into a notebook of which cell 7 is `In [7]`: a cell that failed or that belongs to oomph is an empty cell. A report then names
the lines as the session does.
"""

import json
import os
import re
import sys
import tempfile

from IPython.core.error import UsageError

from . import command
from .errors import Errors

_OURS = re.compile(r"^\s*(%%?oomph\b|%(re)?load_ext\s+oomph\b|%unload_ext\s+oomph\b).*$", re.MULTILINE)
_IS_CHECK = re.compile(r"\s*%%oomph\b")
# The statement behind a measuring magic is a part of the program.
_MEASURED = re.compile(r"^(\s*)%time(?:it)?\s+(?!-)(\S.*)$", re.MULTILINE)
# A cell is named by its number alone; the name of the file says nothing to the user.
_PLACE = re.compile(r"[\w./-]*session\.ipynb:(cell \d+)")
# The next command names the file, which is removed.
_NEXT = re.compile(r"^  next  .*\n(?: {11}.*\n)*", re.MULTILINE)
_NOTE = re.compile(r"^(note: `[^`]*session\.ipynb` is a notebook|oomph: running on ).*\n?", re.MULTILINE)


def check(shell, errors: Errors, options: list[str], cell: str) -> str:
    """The report of `oomph check` on the cells so far and the new cell."""
    if not any(it == "--gpu" or it.startswith("--gpu=") for it in options):
        options = ["--gpu", _name_gpu(), *options]
    with tempfile.TemporaryDirectory(prefix="oomph-notebook-") as folder:
        path = os.path.join(folder, "session.ipynb")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(_write_notebook(list_cells(shell, errors), cell), file)
        # Modules beside the notebook are found as in the kernel.
        paths = [os.getcwd(), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        variables = {"PYTHONPATH": os.pathsep.join(it for it in paths if it)}
        text = command.run(["check", *options, "--python", sys.executable, path], variables)
    text = _NEXT.sub("", _NOTE.sub("", text))
    return _PLACE.sub(r"\1", text).replace(path, "this session")


def _name_gpu() -> str:
    """The kernel's own GPU; PyTorch may not have used it yet."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "cuda") and torch.cuda.is_initialized():
        return torch.cuda.get_device_name()
    raise UsageError("this kernel has not used a GPU: name one with --gpu, such as `%%oomph check --gpu rtx-4090`; `oomph gpus` lists them")


def list_cells(shell, errors: Errors) -> list[str]:
    """The cells of the session by number, from 1; empty for cells that failed."""
    history = shell.history_manager
    failed = errors.failed | set(getattr(history, "exceptions", ()))
    own = list(history.input_hist_raw)[1:]
    # The running cell is the last one of the history, if the history has it.
    if own and _IS_CHECK.match(own[-1]):
        del own[-1]
    return ["" if number in failed else _clean(source) for number, source in enumerate(own, 1)]


def _clean(source: str) -> str:
    """A cell without oomph's own magics."""
    if _IS_CHECK.match(source):
        return ""
    return _MEASURED.sub(r"\1\2", _OURS.sub("", source))


def _write_notebook(cells: list[str], cell: str) -> dict:
    made = [
        {"cell_type": "code", "id": f"cell-{number}", "metadata": {}, "outputs": [], "execution_count": number, "source": source}
        for number, source in enumerate([*cells, cell], 1)
    ]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}
