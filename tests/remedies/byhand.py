"""Runs a program whose source already has the change: with the agent, which stops the program after three steps, and without remedies."""

import json
import tempfile
from pathlib import Path

from forks import Forks


def records_of_fork(forks: Forks, folder: Path, script: Path, *arguments: str, gpu: str = "rtx-4090") -> list[dict]:
    """The records of a run in a fork, in a folder of its own below `folder`."""
    place = Path(tempfile.mkdtemp(dir=folder))
    own = {"OOMPH_RUN_DIR": place, "OOMPH_STEPS": "3"}
    errors = place / "errors.log"
    status = forks.run(script, *arguments, folder=place, card=("--gpu", gpu), env=own, stdout=place / "output.log", stderr=errors)
    marks = place / "rank0.marks.jsonl"
    said = errors.read_text(errors="replace")[-2000:] if errors.is_file() else "nothing: it ended before its log was opened"
    assert status == 0 and marks.is_file(), f"{script.name} ended with {status} and said:\n{said}"
    return [json.loads(line) for line in marks.read_text(encoding="utf-8").splitlines()]


def peaks(records: list[dict]) -> tuple[int, int]:
    """Allocated and reserved at the peaks of the first device."""
    device = next(record for record in records if record["kind"] == "end")["devices"][0]
    return device["allocated_peak_bytes"], device["reserved_peak_bytes"]
