"""The engines of `oomph sweep`, on a real Ray or a real Slurm, with `worker.py` as the worker.

    python tests/engines/test_engines.py ray [WORD ...]       needs: pip install ray
    python tests/engines/test_engines.py slurm [WORD ...]     needs: pip install submitit, and a Slurm (tests/engines/slurm.sh)

Run by hand: the clusters are not among the tools of `make test`. WORD chooses cases by name.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "python"
# submitit finds the class of `SlurmJob.submission()` in the package.
sys.path.insert(1, str(PACKAGE))


class Engine:
    """A running engine, and its events."""

    def __init__(self, name: str, folder: Path, tasks: list[dict], python: str = sys.executable, **more: object) -> None:
        request = {
            "argv": [sys.executable, str(HERE / "worker.py")], "cwd": str(folder), "tasks": [json.dumps(task) for task in tasks],
            "env": {"PYTHONPATH": str(PACKAGE), "FOR_THE_WORKER": "it's $here"}, "folder": str(folder), "address": "auto", "host_bytes": 64 << 20,
            "cpus": 1, "options": ["--time=5"], **more,
        }  # fmt: skip
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [python, "-m", f"oomph.engines.{name}_engine"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
            env=os.environ | {"PYTHONPATH": str(PACKAGE)},
        )  # fmt: skip
        self.process.stdin.write(json.dumps(request))
        self.process.stdin.close()
        self.events: list[dict] = []

    def next(self) -> dict:
        """The next event."""
        line = self.process.stdout.readline()
        assert line, f"no more events; status {self.process.wait()}: {self.read_errors()}"
        self.events.append(json.loads(line))
        return self.events[-1]

    def end(self) -> tuple[dict[int, dict], dict[int, str]]:
        """The points of the tasks that are done, and the reasons of those that are lost."""
        while self.next()["kind"] != "end":
            pass
        assert self.process.wait() == 0, self.read_errors()
        tasks = [event["task"] for event in self.events if "task" in event]
        assert len(tasks) == len(set(tasks)), f"a task has two events: {self.events}"
        done = {event["task"]: json.loads(event["lines"][0]) for event in self.events if event["kind"] == "done"}
        return done, {event["task"]: event["why"] for event in self.events if event["kind"] == "lost"}

    def refuse(self) -> str:
        """The message of an engine that cannot work at all."""
        assert (output := self.process.stdout.read()) == "", output
        assert (status := self.process.wait()) == 2, (status, self.read_errors())
        return self.read_errors()

    def read_errors(self) -> str:
        """The standard error so far."""
        self.errors.seek(0)
        return self.errors.read()


def point(index: int, folder: Path) -> dict:
    """The line of `worker.py`: by arithmetic."""
    return {"id": index, "square": index * index, "variable": "it's $here", "folder": str(folder)}


def sleep_tasks(count: int, seconds: float = 0.2) -> list[dict]:
    """Tasks that sleep."""
    return [{"id": index, "seconds": seconds} for index in range(count)]


def expect(engine: Engine, folder: Path, done: set[int]) -> dict[int, str]:
    """Compares the finished tasks with the expected ones; returns the lost ones."""
    points, lost = engine.end()
    assert points == {index: point(index, folder) for index in done}, (points, lost, engine.read_errors())
    return lost


@contextlib.contextmanager
def cluster(nodes: int) -> Iterator[object]:
    """A Ray cluster on this machine: a head without cores, and nodes of one core."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    made.workers = [made.add_node(num_cpus=1) for _ in range(nodes)]
    try:
        yield made
    finally:
        made.shutdown()


def ray_all_done(folder: Path) -> str:
    """8 tasks, on a Ray of the engine's own"""
    engine = Engine("ray", folder, sleep_tasks(8), address="local")
    assert expect(engine, folder, set(range(8))) == {}
    return engine.events[0]["where"]


def ray_killed_once(folder: Path) -> str:
    """a worker and a Ray process, each killed once, are tried again"""
    tasks = sleep_tasks(4)
    tasks[1] |= {"kill_once": str(folder / "one")}
    # The worker's parent is the process of Ray.
    tasks[2] |= {"kill_once": str(folder / "two"), "kill_parent": True}
    engine = Engine("ray", folder, tasks, address="local")
    assert expect(engine, folder, {0, 1, 2, 3}) == {}
    assert (folder / "one").exists() and (folder / "two").exists()
    assert count_workers() == 0, "the worker of the killed process went on"
    return "equal points"


def ray_lost(folder: Path) -> str:
    """a task that fails is lost, with the last line of its standard error"""
    engine = Engine("ray", folder, [{"id": 0}, {"id": 1, "fails": True}, {"id": 2, "kill_always": True}], address="local")
    lost = expect(engine, folder, {0})
    assert "killed by SIGKILL" in lost[2], lost
    assert lost[1].endswith(f"ended with status 1 on node {os.uname().nodename}: no answer: the script is broken"), lost
    return lost[1]


def ray_no_folder(folder: Path) -> str:
    """a folder that the node does not have"""
    engine = Engine("ray", folder, [{"id": 0}], address="local", cwd="/nowhere")
    _, lost = engine.end()
    assert lost == {0: f"the folder /nowhere is not on node {os.uname().nodename}: a shared file system is needed"}, lost
    return lost[0]


def ray_missing(folder: Path) -> str:
    """a Python without Ray"""
    message = Engine("ray", folder, [{"id": 0}], python=f"{sys.base_prefix}/bin/python3").refuse()
    assert message == "Ray is not installed in this Python: pip install ray\n", message
    return message.strip()


def ray_no_cluster(folder: Path) -> str:
    """no cluster, and an address where nobody answers"""
    return "".join(Engine("ray", folder, [{"id": 0}], address=address).refuse() for address in ("auto", "127.0.0.1:1")).strip()


def ray_cluster_loses_node(folder: Path) -> str:
    """a cluster of 3 nodes, one of which is removed on the way"""
    with cluster(3) as made:
        engine = Engine("ray", folder, sleep_tasks(9, 2), address=made.address)
        while engine.next()["kind"] != "done":
            pass
        made.remove_node(made.workers[0], allow_graceful=False)
        assert expect(engine, folder, set(range(9))) == {}
    return engine.events[0]["where"]


def ray_cluster_loses_head(folder: Path) -> str:
    """a cluster whose head node goes away: done tasks stay, the others are lost"""
    with cluster(2) as made:
        engine = Engine("ray", folder, sleep_tasks(2, 0.1) + sleep_tasks(4, 200)[2:], address=made.address)
        while len(engine.events) < 3:
            engine.next()
        for process in made.head_node.live_processes():
            process[1].kill()
        lost = expect(engine, folder, {0, 1})
    assert set(lost) == {2, 3}, lost
    return lost[2]


def ray_signal(folder: Path) -> str:
    """SIGINT: running workers end, finished tasks are reported"""
    return interrupt("ray", folder, address="local")


def interrupt(name: str, folder: Path, **more: object) -> str:
    """Interrupts an engine after its first answer; no worker may be left."""
    engine = Engine(name, folder, [{"id": 0}, {"id": 1, "seconds": 300}, {"id": 2, "seconds": 300}, {"id": 3, "seconds": 300}], **more)
    while engine.next()["kind"] != "done":
        pass
    wait_until(lambda: count_workers() > 0)
    engine.process.send_signal(signal.SIGINT)
    assert expect(engine, folder, {0}) == {}
    wait_until(lambda: count_workers() == 0)
    return "no worker is left"


def count_workers() -> int:
    """The running workers of this test."""
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    return sum(str(HERE / "worker.py").encode() in command for command in commands)


def wait_until(is_true: Callable[[], bool]) -> None:
    """Waits for a condition, for a minute."""
    until = time.monotonic() + 60
    while not is_true():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.2)


def slurm_all_done(folder: Path) -> str:
    """8 tasks; submitit reads equal points"""
    import submitit

    engine = Engine("slurm", folder, sleep_tasks(8))
    assert expect(engine, folder, set(range(8))) == {}
    job = read_job(engine)
    for index in range(8):
        read = submitit.SlurmJob(folder / "slurm", f"{job}_{index}")
        assert read.result() == [point(index, folder)], read.result()
        assert read.submission().args[1] == index
        assert "foreign variables: []" in read.stderr(), read.stderr()
    return f"{engine.events[0]['where']}: {sorted(path.name for path in (folder / 'slurm').iterdir() if '_' in path.name)[:6]}"


def read_job(engine: Engine) -> str:
    """The id of the array job, from the first event."""
    return engine.events[0]["where"].split()[2].rstrip(",")


def slurm_cancelled(folder: Path) -> str:
    """an array of 6, one of which is cancelled by scancel"""
    engine = Engine("slurm", folder, [{"id": index, "seconds": 300 if index == 1 else 0.5} for index in range(6)])
    engine.next()
    task = f"{read_job(engine)}_1"
    wait_until(lambda: b"RUNNING" in subprocess.check_output(["squeue", "-h", "-j", task, "-o", "%T"]))
    subprocess.run(["scancel", task], check=True)
    lost = expect(engine, folder, {0, 2, 3, 4, 5})
    assert "CANCELLED" in lost[1] and len(lost) == 1, lost
    return lost[1]


def slurm_lost(folder: Path) -> str:
    """a task that fails is lost, and submitit raises its error"""
    import submitit

    engine = Engine("slurm", folder, [{"id": 0}, {"id": 1, "fails": True}])
    lost = expect(engine, folder, {0})
    assert lost[1].endswith(": no answer: the script is broken"), lost
    error = submitit.SlurmJob(folder / "slurm", f"{read_job(engine)}_1").exception()
    assert lost[1] in str(error), error
    return lost[1]


def slurm_odd_names(folder: Path) -> str:
    """a folder with blanks, quotes and a percent sign, in one task"""
    odd = folder / "it's 100%j \"odd\""
    odd.mkdir()
    assert expect(Engine("slurm", odd, [{"id": 0}]), odd, {0}) == {}
    return odd.name


def slurm_no_folder(folder: Path) -> str:
    """a folder that the node does not have"""
    _, lost = Engine("slurm", folder, [{"id": 0}], cwd="/nowhere").end()
    return lost[0]


def slurm_refused(folder: Path) -> str:
    """sbatch refuses, and no sbatch"""
    message = Engine("slurm", folder, [{"id": 0}], options=["--partition=none"]).refuse()
    assert "Invalid partition" in message, message
    os.environ["PATH"] = "/nowhere"
    missing = Engine("slurm", folder, [{"id": 0}]).refuse()
    assert missing == "`sbatch` is not on the search path: is this a Slurm login node?\n", missing
    return f"{message}{missing}".strip()


def slurm_signal(folder: Path) -> str:
    """SIGINT: the array is cancelled, finished tasks are reported"""
    return interrupt("slurm", folder)


def main() -> int:
    """Runs the cases of an engine; exit status 1 if one fails."""
    kind, words = sys.argv[1], sys.argv[2:]
    cases = [body for name, body in globals().items() if name.startswith(f"{kind}_") and callable(body)]
    failed = 0
    for body in [body for body in cases if not words or any(word in body.__name__ for word in words)]:
        began, path = time.monotonic(), os.environ["PATH"]
        try:
            with tempfile.TemporaryDirectory(prefix="oomph-engines-") as folder:
                word, detail = "ok", body(Path(folder))
        except Exception:
            word, detail, failed = "FAILED", traceback.format_exc(), failed + 1
        os.environ["PATH"] = path
        print(f"{word:7}{time.monotonic() - began:5.1f} s  {kind}: {body.__doc__}\n    " + detail.replace("\n", "\n    "), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
