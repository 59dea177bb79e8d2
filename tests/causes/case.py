"""The causes of running out of memory: a program with the cause, the same program without it, and the expected findings.

A folder of `cases/` is one case: `program.py` has the cause, `control.py` does not. Lines that may be blamed bear the comment
`# the cause`. The block of `program.py` (tests/expect.py) sets the fields of `Program`. A text is `texts/NAME.txt`: causes that
no program can show on a phantom GPU, such as a kernel that kills, and wordings of other versions and tools.

Most programs record Python stacks alone; `retained_graph`, `optimizer_state` and `grad_recorded_in_eval` record C++ stacks too, as
PyTorch does by default.

Windows does not run here. For `wsl` the program lies on a drive of Windows, where WSL mounts the drive, and a part of the device is
held by no process.
"""

from dataclasses import dataclass
from pathlib import Path

import expect

HERE = Path(__file__).resolve().parent
# The first finding on a message that shows no more than a full device.
FULL = ("need-exceeds-device", "fragmentation", "unclear")


@dataclass(frozen=True)
class Program:
    """A program with a cause, and a control without it."""

    name: str
    # The first rule, from the snapshot.
    rule: str
    # The device's memory; empty for the GPU's own.
    vram: str = "3GiB"
    # The rules of which one comes first from the text alone; empty if the program prints no error.
    text: tuple[str, ...] = FULL
    # True if the snapshot needs the text to show the cause, which is outside PyTorch's allocator.
    needs_text: bool = False
    # The number of processes of a job; 0 for a single process.
    ranks: int = 0
    # The correct findings on the control.
    control: tuple[str, ...] = ()
    gpu: str = "rtx-4090"
    # The memory of the device that other processes hold while the program runs; the control has the device to itself.
    others: str = "0"
    # Rules that the text must show beside the first.
    also: tuple[str, ...] = ()
    # True if the program, but not its control, lies on a drive of Windows.
    on_windows: bool = False
    # The size of shared memory for program and control, as tmpfs takes it; empty for the machine's own.
    shared: str = ""

    def script(self, kind: str) -> Path:
        """The file of the `program` or of the `control`."""
        return HERE / "cases" / self.name / f"{kind}.py"


def _read_program(folder: Path) -> Program:
    fields = expect.read(folder / "program.py")
    lists = {key: tuple(value) for key, value in fields.items() if isinstance(value, list)}
    return Program(folder.name, **fields | lists)


PROGRAMS = tuple(_read_program(folder) for folder in sorted((HERE / "cases").iterdir()) if folder.is_dir())

# The first rule that a text shows; `None`: the text has no error.
TEXTS = {
    "another_framework": "unclear",
    "healthy": None,
    "host_memory": "host-memory",
    "many_ranks_one_device": "wrong-device",
    "mig_slice": "mig",
    "other_process_memory": "other-process-memory",
    "other_process_table": "other-process-memory",
    "shared_memory": "shm",
    "worker_killed": "host-memory",
}
