"""The largest batch that fits, by `oomph fit --max-batch`, beside a scan of all batches.

    python tests/remedies/max_batch.py --oomph target/release/oomph

For each program of `batches` and each GPU, with so little memory that tens of samples fit:

1. Every size from 1 to twice the largest is run (`scan.py`): the fitting sizes are the truth. Gaps are possible: a batch may fit though a
   smaller batch does not, because it cuts the allocator's segments more luckily.
2. `oomph check --with batch-size:size=N` agrees for the largest and the next size.
3. `oomph fit --max-batch` finds the largest, in at most 8 runs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True

from check import plain_environment

HERE = Path(__file__).resolve().parent
GPUS = ("rtx-4090", "t4", "h100-sxm")
MOST_RUNS = 8
MIB = 1 << 20
WORKERS = 2


@dataclass(frozen=True)
class Program:
    """A program of `batches`, and how it is given a size."""

    name: str
    # Arguments, or a change of the source; `{}` is the size.
    how: tuple[str, ...] | dict[str, str]
    # Bytes that PyTorch may reserve.
    room: int
    # Up to which size is looked.
    most: int

    @property
    def path(self) -> Path:
        """Its source."""
        return HERE / "batches" / f"{self.name}.py"


PROGRAMS = (
    Program("mlp", ("--batch-size", "{}"), 905 * MIB, 64),
    Program("resnet", ("--batch-size", "{}"), 304 * MIB, 32),
    Program("language", {"batch_size = 2": "batch_size = {}"}, 700 * MIB, 32),
    Program("short_batches", {"batch_size=8": "batch_size={}"}, 220 * MIB, 64),
    Program("lengths", ("--micro-batch-size", "{}"), 700 * MIB, 64),
)


class Prober:
    """Runs oomph."""

    def __init__(self, oomph: Path, python: Path, folder: Path) -> None:
        self.oomph = oomph
        self.python = python
        self.folder = folder
        self._outside: dict[str, int] = {}

    def vram(self, gpu: str, room: int) -> int:
        """The memory of a GPU of which PyTorch may reserve `room`."""
        if gpu not in self._outside:
            self._outside[gpu] = self.scan(PROGRAMS[0], gpu, 24 << 30, 0)["outside"]
        return self._outside[gpu] + room

    def scan(self, program: Program, gpu: str, vram: int, most: int) -> dict:
        """Runs every batch size in order."""
        how = json.dumps(program.how)
        command = ["phantom", "--gpu", gpu, "--vram", vram, "--", self.python, HERE / "scan.py", program.path, most, how]
        done = self._run(*command)
        assert done.returncode == 0, f"{done.args} ended with {done.returncode}: {done.stderr}"
        return json.loads(done.stdout)

    def fits(self, program: Program, gpu: str, vram: int, size: int) -> bool:
        """The verdict of `check` on the program with the remedy."""
        card = ("--gpu", gpu, "--vram", vram, "--python", self.python)
        done = self._run("check", *card, "--with", f"batch-size:size={size}", program.path)
        assert done.returncode in (0, 1), f"{done.args} ended with {done.returncode}: {done.stderr}"
        return done.returncode == 0

    def largest(self, program: Program, gpu: str, vram: int) -> dict:
        """The answer of `fit`."""
        card = ("--gpu", gpu, "--vram", vram, "--target", 100, "--python", self.python)
        done = self._run("fit", *card, "--max-batch", "--json", program.path)
        assert done.stdout, f"{done.args} ended with {done.returncode}: {done.stderr}"
        return json.loads(done.stdout)["max_batch"]

    def _run(self, *words) -> subprocess.CompletedProcess:
        environment = plain_environment() | {"OOMPH_CACHE_DIR": str(self.folder / "cache")}
        command = [str(word) for word in (self.oomph, *words)]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)


def check(prober: Prober, with_fit: bool, of: tuple[Program, str]) -> bool:
    """Checks a program on a GPU, prints its line; True if all agree."""
    program, gpu = of
    vram = prober.vram(gpu, program.room)
    fits = prober.scan(program, gpu, vram, program.most)["fits"]
    truth = max((size for size, does in enumerate(fits, 1) if does), default=0)
    first = fits.index(False) + 1 if False in fits else None
    problems = [] if first is not None and truth * 3 <= program.most * 2 else [f"{program.most} sizes are too few to know the largest"]
    problems += [
        f"check says otherwise of {size}: {not fits[size - 1]}"
        for size in (truth, truth + 1)
        if 0 < size <= program.most and prober.fits(program, gpu, vram, size) != fits[size - 1]
    ]
    line = f"{program.name:16}{gpu:12}{truth:8}{first or '-':>12}"
    if with_fit:
        found = prober.largest(program, gpu, vram)
        line += f"{found['size']:8}{found['runs']:8}"
        problems += [] if found["size"] == truth else [f"fit found {found['size']}, expected {truth}; it tried {found['tried']}"]
        problems += [] if found["runs"] <= MOST_RUNS else [f"fit took {found['runs']} runs, at most {MOST_RUNS}"]
    print(f"{'FAILED' if problems else 'ok':8}{line}" + "".join(f"\n    {problem}" for problem in problems), flush=True)
    return not problems


def main() -> int:
    """Exit status 1 after a failure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oomph", type=Path, required=True, help="the binary")
    parser.add_argument("--python", type=Path, default=sys.executable, help="the Python that runs the programs [default: this one]")
    parser.add_argument("--without-fit", action="store_true", help="compare only `check` with the truth")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only programs and GPUs whose names hold one of these")
    arguments = parser.parse_args()
    pairs = [(program, gpu) for program in PROGRAMS for gpu in GPUS]
    chosen = [(p, gpu) for p, gpu in pairs if not arguments.words or any(word in f"{p.name} {gpu}" for word in arguments.words)]
    with tempfile.TemporaryDirectory(prefix="oomph-batches-") as folder, ThreadPoolExecutor(WORKERS) as pool:
        prober = Prober(arguments.oomph.absolute(), arguments.python.absolute(), Path(folder))
        print(f"{'':8}{'program':16}{'GPU':12}{'largest':>8}{'first not':>12}{'fit':>8}{'runs':>8}")
        agree = list(pool.map(partial(check, prober, not arguments.without_fit), chosen))
    return 0 if agree and all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
