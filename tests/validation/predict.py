"""The report of `oomph check` on a program: a run on a phantom GPU, and the kept figures."""

import json
import pickle
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from catalogue import ROOT, Program
from segments import runs

PATIENCE = 600
# The kept figures of a prediction, in order.
FIGURES = ("verdict", "allocated_bytes", "reserved_bytes", "device_bytes")


@dataclass(frozen=True)
class Job:
    """A command line to predict, on a GPU as `--gpu` names it."""

    key: str
    gpu: str
    script: Path
    arguments: tuple[str, ...]
    environment: dict[str, str]

    @staticmethod
    def of(program: Program, gpu: str) -> "Job":
        """The prediction of a program of the suite."""
        return Job(program.name, gpu, program.script, program.arguments, program.variables())


class Failed(AssertionError):
    """The check failed; holds its output."""


def predict(oomph: Path, job: Job, segments: bool = False) -> dict:
    """The verdict, the peaks if there were no limit, and on request what the allocator asked the device for."""
    with tempfile.TemporaryDirectory(prefix="oomph-validate-") as folder:
        save = ["--save", folder + "/run"] if segments else []
        # A compiler does not repeat cached searches, and searching takes memory: the cache starts empty.
        environment = job.environment | {"TORCHINDUCTOR_CACHE_DIR": folder + "/inductor"}
        command = [oomph, "check", "--json", "--steps", "0", "--gpu", job.gpu, *save, "--python", sys.executable]
        words = [str(word) for word in [*command, job.script, *job.arguments]]
        done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode not in (0, 1):
            raise Failed(f"{job.key}: oomph check ended with {done.returncode}\n{done.stderr[-3000:]}")
        report = json.loads(done.stdout)
        found = {"verdict": report["verdict"].removesuffix("_so_far")} | {name: report["need"][name] for name in FIGURES[1:]}
        if segments:
            found["segments"] = _segments(Path(folder) / "run")
        return found


def _segments(run: Path) -> list[list]:
    """Of the history that the run kept. It is our own file: a pickle of plain data."""
    (path,) = run.glob("rank0.snapshot.pickle")
    with path.open("rb") as file:
        return runs(pickle.load(file)["device_traces"][0])
