"""The `oomph` command of the installation."""

import os
import subprocess

from .. import __main__ as launcher
from ..command import find_command

# Variables of a run around the kernel, which a run inside does not share.
_OURS = "OOMPH_RUN"


class Missing(Exception):
    """The command is not where the installation puts it."""


def find() -> str:
    """The path of the command."""
    command = find_command()
    if command is None:
        raise Missing(f"the `oomph` command is missing; expected {' or '.join(map(str, launcher.list_candidates()))}")
    return command


def run(arguments: list[str], variables: dict[str, str] | None = None) -> str:
    """Runs the command to its end and returns what it printed; standard error follows standard output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    done = subprocess.run(
        [find(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", env={**environment, **(variables or {})}
    )
    return done.stdout + done.stderr
