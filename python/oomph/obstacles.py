"""The reasons against dry runs in this Python."""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from .command import find_command

__all__ = ["find_obstacle"]


def find_obstacle() -> str | None:
    """The reason against runs on a phantom GPU here; `None` without one."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return "oomph's phantom GPU needs Linux on x86_64"
    if find_command() is None:
        return "the `oomph` command is missing; `python -m oomph` names the expected places"
    return _find_obstacle_of_torch()


def _find_obstacle_of_torch() -> str | None:
    """The reason in the installed PyTorch, without an import, which takes a second."""
    found = PathFinder.find_spec("torch")
    if found is None or not found.submodule_search_locations:
        return "PyTorch is not installed"
    known: dict[str, Any] = {}
    version = Path(found.submodule_search_locations[0]) / "version.py"
    try:
        exec(compile(version.read_text(encoding="utf-8"), version, "exec"), known)
    except (OSError, SyntaxError, ValueError, NameError, ImportError):
        # The dry run states the problem of such an installation.
        return None
    return None if known.get("cuda") else f"PyTorch {known.get('__version__')} is built without CUDA"
