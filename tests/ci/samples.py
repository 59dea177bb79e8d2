"""Sources with mistakes, and the ways to run oomph on them in a folder of their own."""

import os
import subprocess
from pathlib import Path

from mistake import MISTAKE

# The same line twice: two findings of one rule with one text.
TWICE = MISTAKE + MISTAKE.replace("def train", "def train_again").removeprefix("import torch\n")
NOT_PYTHON = "import torch\nprint 'x'\n"
PATIENCE = 60


def write(folder: Path, name: str, text: str) -> Path:
    """Writes a file, with its folders."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def run(oomph: Path, *words: str, cwd: Path, status: int, **own: str) -> str:
    """Runs oomph, checks its exit status, and returns its standard output."""
    done = subprocess.run([oomph, *words], cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, env=os.environ | own)
    assert done.returncode == status, f"oomph {' '.join(words)}: expected exit status {status}, found {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def equal(found: object, expected: object, what: str) -> None:
    """Fails with both values."""
    assert found == expected, f"{what}: expected {expected!r}, found {found!r}"
