"""Kills recorded processes at random instants, and checks that each recording opens and ends where the process ended.

    python tests/deaths/kills.py --oomph target/release/oomph [--count 1000] [--seed 0]

One `oomph run` starts a program that forks processes in turn. Each trains on a phantom GPU, logs the number and the time of each
finished step with one write(2), and is killed with SIGKILL after a random time. `oomph explain` has to open the files of each
process by themselves, and the step that it names may lie at most 100 ms before the last step of the log, and one step after it: the
process may be killed between its step and the write.

`--parents COUNT` kills `oomph run` itself, as often, from its start on. The program then runs to its own end, its files hold its own bytes, and
nothing but one recording, which opens, is left in the folder for temporary files.
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The processes of one run: a recording takes 60 MiB of the disk until it is checked.
TOGETHER = 25
MOST_LATE = 0.1
LONGEST = 1.0
# The longest time to a kill of `oomph run`: with the import of torch a program takes some seconds.
LONGEST_PARENT = 8.0


def main() -> int:
    """Exit status 1 if a recording does not open, or ends too early."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oomph", type=Path, default=ROOT / "target/release/oomph")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parents", type=int, default=0)
    parser.add_argument("--train", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.train:
        fork_and_kill(arguments.train, arguments.count, arguments.seed)
        return 0
    if arguments.parents:
        return kill_parents(arguments.oomph.absolute(), arguments.parents, arguments.seed)
    late, problems = [], []
    for first in range(0, arguments.count, TOGETHER):
        with tempfile.TemporaryDirectory(prefix="oomph-kills-") as folder:
            for outcome in kill_some(arguments, Path(folder), min(TOGETHER, arguments.count - first), arguments.seed + first):
                (late if isinstance(outcome, float) else problems).append(outcome)
        print(f"{first + TOGETHER} killed, {len(problems)} problems", flush=True)
    print("\n".join(problems))
    ends = f"at most {max(late, default=0) * 1000:.0f} ms before the last logged step"
    print(f"{len(late)} of {arguments.count} recordings opened, and end {ends}")
    return 1 if problems or not late else 0


def kill_some(arguments: argparse.Namespace, folder: Path, count: int, seed: int):
    """Yields for each process the seconds between the ends of recording and log, or a problem."""
    oomph, recorded = arguments.oomph.absolute(), folder / "run"
    words = [sys.executable, __file__, "--train", folder, "--count", count, "--seed", seed]
    command = [oomph, "phantom", "--gpu", "rtx-3060", "--", oomph, "run", "--save", recorded, "--", *words]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        yield f"exit status {done.returncode}: {done.stderr}"
        return
    for log in sorted(folder.glob("*.log")):
        yield compare(oomph, recorded, log)


def compare(oomph: Path, recorded: Path, log: Path) -> float | str:
    """Explains the files of one process by themselves."""
    steps = {int(line.split()[0]): float(line.split()[1]) for line in log.read_text().splitlines()}
    pid, alone = log.stem, log.with_suffix("")
    alone.mkdir()
    files = [path for path in recorded.glob("*.marks.jsonl") if f'"pid":{pid},' in path.read_text()]
    stems = {path.name.removesuffix(".marks.jsonl") for path in files}
    for path in [recorded / "run.json", *(path for stem in stems for path in recorded.glob(f"{stem}.*"))]:
        os.link(path, alone / path.name)
    done = subprocess.run([oomph, "explain", alone], capture_output=True, text=True)
    shutil.rmtree(alone)
    named = re.match(r"(\d+) steps?;", done.stdout)
    if done.returncode not in (0, 1) or named is None or len(stems) != 1:
        return f"process {pid}: {len(stems)} recordings, status {done.returncode}: {done.stderr}"
    step, last = int(named[1]), max(steps)
    late = steps[last] - steps.get(min(step, last), 0.0)
    return late if late <= MOST_LATE and step <= last + 1 else f"process {pid}: ends at step {step} of {last}"


# Trains, and then replaces the word in its file.
PROGRAM = """
open("log", "w").close()
import torch
model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(200):
    model(torch.zeros(32, 64, device="cuda")).mean().backward()
    optimizer.step()
open("own", "w").write("after")
"""


def kill_parents(oomph: Path, count: int, seed: int) -> int:
    """Kills `oomph run` at random instants; exit status 1 if a program or a folder is harmed."""
    delays, problems, started, recorded = random.Random(seed), [], 0, 0
    for number in range(count):
        with tempfile.TemporaryDirectory(prefix="oomph-kills-") as folder:
            begun, left = kill_parent(oomph, Path(folder), delays.uniform(0, LONGEST_PARENT))
            started, recorded = started + begun, recorded + len(left)
            problems += [f"kill {number}: {problem}" for problem in find_harm(oomph, Path(folder), begun, left)]
    print("\n".join(problems))
    print(f"{count} killed, {started} programs had started and ended well, {recorded} recordings left, {len(problems)} problems")
    return 1 if problems else 0


def kill_parent(oomph: Path, folder: Path, delay: float) -> tuple[bool, list[Path]]:
    """Returns true if the program had started, and the files left in the folder for temporary files."""
    (folder / "tmp").mkdir()
    (folder / "own").write_text("before")
    command = [oomph, "phantom", "--gpu", "rtx-3060", "--", oomph, "run", "--", sys.executable, "-c", PROGRAM]
    with subprocess.Popen(list(map(str, command)), cwd=folder, env=os.environ | {"TMPDIR": str(folder / "tmp")}, stderr=subprocess.DEVNULL) as running:
        time.sleep(delay)
        # Stopped first: a child that starts now would be in no list.
        running.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, running.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        tasks = Path(f"/proc/{running.pid}/task").glob("*/children")
        children = [child for task in tasks for child in task.read_text().split()]
        running.kill()
    for child in children:
        while Path("/proc", child).exists():
            time.sleep(0.01)
    return (folder / "log").exists(), sorted((folder / "tmp").glob("oomph*"))


def find_harm(oomph: Path, folder: Path, begun: bool, left: list[Path]):
    """Whatever is not as it has to be."""
    own, expected = (folder / "own").read_text(), "after" if begun else "before"
    if own != expected:
        yield f"the program's file holds {own!r}, not {expected!r}"
    if len(left) > 1:
        yield f"{len(left)} folders are left"
    for path in left:
        done = subprocess.run([oomph, "explain", path], capture_output=True, text=True)
        if begun and (done.returncode not in (0, 1) or not done.stdout.startswith("step 200: ")):
            yield f"status {done.returncode}: {done.stdout}{done.stderr}"


def fork_and_kill(folder: Path, count: int, seed: int) -> None:
    """The program: CUDA is not initialised in the parent, so each child has a device, and a recording, of its own."""
    import torch

    delays = random.Random(seed)
    for _ in range(count):
        child = os.fork()
        if child == 0:
            train(folder / f"{os.getpid()}.log", torch)
        log = folder / f"{child}.log"
        while not log.exists() or log.stat().st_size == 0:
            time.sleep(0.001)
        time.sleep(delays.uniform(0, LONGEST))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def train(log: Path, torch) -> None:
    """Trains until it is killed."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = 0
    while True:
        step += 1
        model(torch.zeros(32, 64, device="cuda")).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        os.write(file, f"{step} {time.monotonic()}\n".encode())


if __name__ == "__main__":
    sys.exit(main())
