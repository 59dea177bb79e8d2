"""Runs programs, each in a fork of one process that has imported PyTorch, and prints PyTorch's counters of each.

    oomph phantom --gpu rtx-4090 --gpus 2 -- python tests/lint/runner.py < JOBS > ANSWERS

A job is a line `{"name": ..., "program": PATH, "ranks": N, "gpus": N, "host": BOOL}`; an answer is a line with the name and the counts of
each rank. A program runs as it is, but for one call behind the body of its last outermost loop, which counts after each step. Ranks find
in the environment what torchrun puts there. CUDA must not be touched before a fork.
"""

import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

# Modules imported by the first optimizer: imported once here, not in every fork.
import torch._dynamo  # noqa: F401
import torch.distributed  # noqa: F401
from counts import CALL, Counts, with_steps

WORKERS = 2
# Seconds until a program counts as hung.
PATIENCE = 600
# Characters of the end of a failed program's output in the report.
SHOWN = 4000


class Running:
    """A job with its running processes."""

    def __init__(self, job: dict, folder: Path) -> None:
        self.job = job
        self.folder = folder
        # As torchrun does: a store of rank 0 would end with its program, while another rank still asks for the address of its group.
        self.store = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False) if job["ranks"] > 1 else None
        self.started = time.perf_counter()
        self.cpu = 0.0
        self.pids = {self._fork(rank) for rank in range(job["ranks"])}

    def _fork(self, rank: int) -> int:
        pid = os.fork()
        if pid == 0:
            # The fork must never continue as the runner.
            try:
                signal.alarm(PATIENCE)
                self._prepare(rank)
                self._finish(rank, run(self.job))
            finally:
                os._exit(0)
        return pid

    def _prepare(self, rank: int) -> None:
        os.chdir(self.folder)
        log = os.open(f"log{rank}", os.O_WRONLY | os.O_CREAT)
        os.dup2(log, 1)
        os.dup2(log, 2)
        names = {"CUDA_VISIBLE_DEVICES": ",".join(map(str, range(self.job["gpus"])))}
        if self.store is not None:
            names |= {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": self.job["ranks"]}
            names |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": self.store.port}
            names |= {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": 0}
        os.environ.update({name: str(value) for name, value in names.items()})

    def _finish(self, rank: int, counts: dict) -> None:
        sys.stdout.flush()
        for worker in multiprocessing.active_children():
            worker.terminate()
        partial = self.folder / f"partial{rank}"
        partial.write_text(json.dumps(counts), encoding="utf-8")
        partial.rename(self.folder / f"counts{rank}")

    def answer(self) -> dict:
        """Returns the answer after the last process of the job has ended."""
        ranks = [self._rank(rank) for rank in range(self.job["ranks"])]
        return {"name": self.job["name"], "ranks": ranks, "elapsed": time.perf_counter() - self.started, "cpu": self.cpu}

    def _rank(self, rank: int) -> dict:
        counts, log = self.folder / f"counts{rank}", self.folder / f"log{rank}"
        done = json.loads(counts.read_text(encoding="utf-8")) if counts.exists() else {"error": f"Died: it left no counts, or took more than {PATIENCE} s"}
        return done | {"log": log.read_text(encoding="utf-8", errors="replace")[-SHOWN:] if log.exists() else ""}


def run(job: dict) -> dict:
    """Runs a program in this process; returns its counts and its error."""
    counts = Counts(job["host"])
    path = job["program"]
    sys.argv = [path]
    namespace = {"__name__": "__main__", "__file__": path, CALL: counts.step}
    error = None
    try:
        exec(with_steps(Path(path).read_text(encoding="utf-8"), path), namespace)
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    return {"error": error, **counts.total(namespace)}


def main() -> None:
    """Runs the jobs from standard input, `WORKERS` at a time."""
    waiting = [json.loads(line) for line in sys.stdin]
    running: list[Running] = []
    with tempfile.TemporaryDirectory(prefix="oomph-lint-") as root:
        while waiting or running:
            while waiting and len(running) < WORKERS:
                running.append(Running(waiting.pop(0), Path(tempfile.mkdtemp(dir=root))))
            pid, _, usage = os.wait4(-1, 0)
            job = next(job for job in running if pid in job.pids)
            job.pids.remove(pid)
            job.cpu += usage.ru_utime + usage.ru_stime
            if not job.pids:
                running.remove(job)
                print(json.dumps(job.answer()), flush=True)


if __name__ == "__main__":
    main()
