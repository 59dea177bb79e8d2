"""Trains and saves without oomph, then again under `oomph check --keep-files` in the same folder: the files that were saved must stay as they were."""

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "programs/saves.py"
# Each with the suffixes of what makes up a checkpoint.
FRAMEWORKS = {
    "trainer": (".safetensors", ".pt", ".pth", ".bin"),
    "lightning": (".ckpt",),
    "accelerate": (".safetensors", ".bin"),
    "distributed": (".distcp", ".metadata"),
}
SECONDS = 300


def check(name, oomph):
    """Checks a framework; returns the text to show."""
    with tempfile.TemporaryDirectory() as folder:
        program = (sys.executable, PROGRAM, name)
        run(folder, *program)
        # The oldest is what a limit removes.
        for last in Path(folder, "saved").glob("checkpoint-*"):
            last.rename(last.with_name("checkpoint-0"))
        before = saved(folder, name)
        report = json.loads(run(folder, oomph, "check", "--keep-files", "--gpu", "t4", "--steps", "100", "--json", "--", *program))
        after = saved(folder, name)
    assert before, "expected checkpoints, found none"
    lost = {file: "changed" if file in after else "removed" for file, digest in before.items() if after.get(file) != digest}
    assert not lost, f"expected checkpoints as they were, found {lost}"
    notes = report["notes"]
    assert any("there already" in note for note in notes), f"expected a note of what was there already, found {notes}"
    return f"{len(before)} files"


def run(folder, *words):
    """Runs a command, which must succeed; returns its standard output."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, f"{words}: expected exit status 0, found {done.returncode}\n{done.stderr[-3000:]}"
    return done.stdout


def saved(folder, name):
    """The checkpoints of a folder, each with a digest of its bytes."""
    files = [path for path in sorted(Path(folder).rglob("*")) if path.name.endswith(FRAMEWORKS[name])]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
