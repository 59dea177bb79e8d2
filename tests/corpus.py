"""Reads a corpus: a file of Python with a list `CASES`."""

import importlib.util
from pathlib import Path


def load(path: str | Path) -> list:
    """The cases of a file."""
    spec = importlib.util.spec_from_file_location("cases", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CASES
