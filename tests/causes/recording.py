"""Runs the programs on a phantom GPU and reads their records: a snapshot, the error, the printed peaks."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from case import Program
from forks import Forks
from suite import Skip

# The limit per program, in seconds; far above the time that a program takes on an idle machine.
PATIENCE = 900
# A private /dev/shm, in private namespaces; many systems allow any user to make them.
NAMESPACES = ("unshare", "--map-root-user", "--mount")
SHARED = 'mount -t tmpfs -o "size=$1" tmpfs /dev/shm && shift && exec "$@"'
# /mnt as under WSL, with a copy of the program on drive C.
WINDOWS = 'mount -t tmpfs tmpfs /mnt && mkdir -p "$(dirname "$2")" && cp "$1" "$2" && shift 2 && exec "$@"'
DRIVE = Path("/mnt/c/train")


@dataclass(frozen=True)
class Rank:
    """The records of a process."""

    snapshot: Path
    # `max_memory_allocated()` and `max_memory_reserved()`, as the program prints them.
    allocated: int
    reserved: int


@dataclass(frozen=True)
class Recording:
    """The records of a run."""

    script: Path
    ranks: list[Rank]
    log: Path

    @property
    def ran_out(self) -> bool:
        """True if the log has an out-of-memory error."""
        log = self.log.read_text(encoding="utf-8")
        return any(words in log for words in ("OutOfMemoryError", "DefaultCPUAllocator", "unable to allocate shared memory", "Bus error"))

    @property
    def input(self) -> Path:
        """The snapshot, or the folder of a job's snapshots."""
        return self.ranks[0].snapshot if len(self.ranks) == 1 else self.ranks[0].snapshot.parent


@dataclass(frozen=True)
class Recorder:
    """Runs programs in folders below `folder`; earlier recordings there are reused."""

    oomph: Path
    folder: Path
    # Runs the programs; without it, each program starts in a new process.
    forks: Forks | None = None

    def record(self, kind: str, program: Program) -> Recording:
        """Runs the `program` or the `control`, each rank as a separate process."""
        script = program.script(kind)
        folder = self.folder / kind / program.name
        done = folder / "done"
        if not done.exists():
            if program.shared or program.on_windows:
                _need_namespaces()
            folder.mkdir(parents=True, exist_ok=True)
            others = program.others if kind == "program" else "0"
            for rank in range(max(1, program.ranks)):
                self._run(script, program, folder, rank, others)
            done.touch()
        return _read(script, folder, program)

    def _run(self, script: Path, program: Program, folder: Path, rank: int, others: str) -> None:
        card = ("--gpu", program.gpu, *(("--vram", program.vram) if program.vram else ()), "--gpus", max(1, program.ranks))
        card = (*card, *(("--others", others) if others != "0" else ()))
        output, errors = folder / f"rank{rank}.out", folder / "errors.log"
        is_mounted = program.shared or (program.on_windows and script.stem == "program")
        if self.forks and not is_mounted:
            self.forks.run(script, folder=folder, card=card, env={"RANK": rank}, stdout=output, stderr=errors)
        else:
            self._start(script, program, folder, rank, card)

    def _start(self, script: Path, program: Program, folder: Path, rank: int, card: tuple) -> None:
        """Starts a process, with its own mounts if the program needs them."""
        phantom = (self.oomph, "phantom", *card, "--")
        shared = (*NAMESPACES, "sh", "-c", SHARED, "sh", program.shared) if program.shared else ()
        on_windows, start = (), script
        if program.on_windows and script.stem == "program":
            start = DRIVE / script.name
            on_windows = (*NAMESPACES, "sh", "-c", WINDOWS, "sh", script, start)
        command = [str(word) for word in (*phantom, *shared, *on_windows, sys.executable, start)]
        environment = plain_environment() | {"RANK": str(rank), "PYTHONDONTWRITEBYTECODE": "1", "OOMPH_CACHE_DIR": str(self.folder / "cache")}
        with (folder / f"rank{rank}.out").open("w") as output, (folder / "errors.log").open("a") as errors:
            subprocess.run(command, cwd=folder, env=environment, stdout=output, stderr=errors, timeout=PATIENCE)


def _need_namespaces() -> None:
    try:
        tried = subprocess.run([*NAMESPACES, "mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], capture_output=True, text=True)
    except FileNotFoundError as missing:
        raise Skip(f"private mounts need util-linux: {missing}") from None
    if tried.returncode != 0:
        raise Skip(f"this machine allows no private mounts: {tried.stderr.strip()}")


def plain_environment() -> dict[str, str]:
    """This process's environment, without variables that change a program or oomph."""
    theirs = ("OOMPH_", "PYTORCH_", "CUDA_", "RANK", "LOCAL_RANK", "WORLD_SIZE", "LD_")
    return {name: value for name, value in os.environ.items() if not name.startswith(theirs)}


def _read(script: Path, folder: Path, program: Program) -> Recording:
    log = folder / "errors.log"
    snapshots = sorted(folder.glob("*.pickle"))
    outputs = [folder / f"rank{rank}.out" for rank in range(max(1, program.ranks))]
    peaks = [line.split()[1:] for output in outputs for line in output.read_text(encoding="utf-8").splitlines() if line.startswith("peak ")]
    assert len(snapshots) == len(peaks) == len(outputs), f"{script} left no snapshot:\n{log.read_text(encoding='utf-8')}"
    ranks = [Rank(snapshot, int(allocated), int(reserved)) for snapshot, (allocated, reserved) in zip(snapshots, peaks, strict=True)]
    return Recording(script, ranks, log)
