"""One task of an array job, on a node of Slurm: `python -m oomph.engines.slurm_task TASKS_FILE`. See Note [Files of an array job].

Note [Files of an array job]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
The folder has the layout of submitit 1.5.4 (`core/utils.py`, `JobPaths`), so that `submitit.SlurmJob(FOLDER, "ARRAY_INDEX").result()` returns
the points of a task as dictionaries. `%A` is the id of the array job, `%a` the index of a task; submitit's `0` is the rank in the job:

==========================  =====================================================================
`%A_submission.sh`          the batch script, also as `submission_file_UUID.sh`
`%A_%a_submitted.pkl`       a `DelayedSubmission`
`%A_%a_0_result.pkl`        `("success", points)` or `("error", message)`
`%A_%a_0_log.out`, `.err`   the output of the array task, and of its worker
`tasks_UUID.json`           ours: the worker's command, and all tasks
`%A_%a_answer.json`         ours: the fields of the event `done`, or `why` of `lost`
==========================  =====================================================================

The engine reads only JSON: whoever can write a pickle can run code in its reader.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .protocol import TaskFailed, run_task


@dataclass
class DelayedSubmission:
    """The call that submitit's `SlurmJob.submission()` returns.

    submitit compares only the class's name (`DelayedSubmission.load`), and allows copies of its class. This copy is written without
    submitit, and read wherever oomph is installed.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def run_points(tasks_file: str, index: int) -> list[dict[str, Any]]:
    """Runs a task again, and returns its points."""
    return read_points(answer_task(Path(tasks_file), index, Path(os.devnull)))


def main(tasks_file: Path) -> int:
    """Runs the task of this array job's index, and writes its answer; exit status 1 without an answer."""
    job, index = os.environ["SLURM_ARRAY_JOB_ID"], int(os.environ["SLURM_ARRAY_TASK_ID"])
    folder, stem = tasks_file.parent, f"{job}_{index}"
    try:
        answer = answer_task(tasks_file, index, folder / f"{stem}_0_log.err")
        outcome = "success", read_points(answer)
    except TaskFailed as error:
        answer, outcome = {"why": str(error)}, ("error", str(error))
    # The engine looks for the answer alone: at its end all files of the task are there.
    write_atomically(folder / f"{stem}_0_result.pkl", pickle.dumps(outcome))
    write_atomically(folder / f"{stem}_answer.json", json.dumps(answer).encode())
    return 1 if "why" in answer else 0


def answer_task(tasks_file: Path, index: int, log: Path) -> dict[str, Any]:
    """Runs a task; the worker's standard error is added to `log`."""
    work = json.loads(tasks_file.read_text(encoding="utf-8"))
    with log.open("ab+") as errors:
        return run_task(work["argv"], work["cwd"], work["env"], work["tasks"][index], errors)


def read_points(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The points of a worker's output."""
    try:
        return [json.loads(line) for line in answer["lines"]]
    except ValueError as error:
        raise TaskFailed(f"the worker printed a line that is no JSON: {error}") from error


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file that no reader sees in part. Only its owner may read the file: a task may have a password in its variables."""
    made = path.with_name(f"{path.name}.part")
    made.unlink(missing_ok=True)
    with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    made.replace(path)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
