"""Finders of a batch size by trial beside `oomph fit --max-batch`, on the same phantom GPU.

    python tests/remedies/finders.py --oomph target/release/oomph --python PYTHON

PYTHON has Lightning and accelerate. For each finder: the chosen size, the number of trials, and if a new process then fits with that size,
for three steps. Beside them the size of `oomph fit` for the same program, and, with `--scan`, the largest size that fits. Prints a table in
Markdown.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True

from check import plain_environment

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "finders"
GPU, VRAM = "rtx-4090", "1400MiB"
# The largest size that `--scan` tries.
MOST = 40


@dataclass(frozen=True)
class Finder:
    """A way to find a size, and the program that then uses the size."""

    name: str
    program: str
    arguments: tuple[str, ...]


FINDERS = (
    Finder("Lightning, power", "with_lightning", ("--find", "power")),
    Finder("Lightning, binsearch", "with_lightning", ("--find", "binsearch")),
    Finder("accelerate", "with_accelerate", ("--find",)),
)


class Prober:
    """Runs programs on the phantom."""

    def __init__(self, oomph: Path, python: Path, card: tuple[str, ...], folder: str) -> None:
        self.oomph = oomph.absolute()
        # Not resolved: an environment's Python is a link.
        self.python = python.absolute()
        self.card = card
        self.folder = folder

    def choice(self, finder: Finder) -> dict:
        """The finder's output: its last line."""
        done = self._run("phantom", *self.card, "--", self.python, PROGRAMS / f"{finder.program}.py", *finder.arguments)
        assert done.returncode == 0 and done.stdout, f"{finder.name} ended with {done.returncode}: {done.stderr[-2000:]}"
        return json.loads(done.stdout.splitlines()[-1])

    def fits(self, program: str, size: int) -> bool:
        """True if a new process fits with this size, by `check`."""
        words = ("check", *self.card, "--python", self.python, PROGRAMS / f"{program}.py", "--batch-size", size)
        done = self._run(*words)
        assert done.returncode in (0, 1), f"{done.args} ended with {done.returncode}: {done.stderr[-2000:]}"
        return done.returncode == 0

    def fit(self, program: str) -> dict:
        """The result of `oomph fit` for the unchanged program."""
        done = self._run("fit", *self.card, "--target", 100, "--python", self.python, "--max-batch", "--json", PROGRAMS / f"{program}.py")
        assert done.stdout, f"{done.args} ended with {done.returncode}: {done.stderr[-2000:]}"
        return json.loads(done.stdout)["max_batch"]

    def largest(self, program: str, most: int) -> int:
        """The truth: every size tried in order, without oomph's agent."""
        how = json.dumps(["--batch-size", "{}"])
        done = self._run("phantom", *self.card, "--", self.python, HERE / "scan.py", PROGRAMS / f"{program}.py", most, how)
        assert done.returncode == 0 and done.stdout, f"{done.args} ended with {done.returncode}: {done.stderr[-2000:]}"
        fitting = json.loads(done.stdout.splitlines()[-1])["fits"]
        assert not fitting[-1], f"{program}: {most} fits, so a larger size may"
        return max((size for size, fits in enumerate(fitting, 1) if fits), default=0)

    def _run(self, *words) -> subprocess.CompletedProcess:
        environment = plain_environment() | {"OOMPH_CACHE_DIR": f"{self.folder}/cache", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(PROGRAMS)}
        command = [str(word) for word in (self.oomph, *words)]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)


def compare(oomph: Path, python: Path, card: tuple[str, ...] = ("--gpu", GPU, "--vram", VRAM), most: int = 0) -> int:
    """Prints the table, with the truth if sizes up to `most` are to be scanned.

    Returns 1 if the size of `fit` does not fit, is smaller than a fitting size of a finder, or differs from the truth.
    """
    wrong = False
    print("| program | found by | size | trials | three steps with it |\n|---|---|---:|---:|---|")
    with tempfile.TemporaryDirectory(prefix="oomph-finders-") as folder:
        prober = Prober(oomph, python, card, folder)
        for program in dict.fromkeys(finder.program for finder in FINDERS):
            best = 0
            for finder in (finder for finder in FINDERS if finder.program == program):
                best = max(best, row(prober, program, finder.name, prober.choice(finder)))
            found = prober.fit(program)
            fitting = row(prober, program, "`oomph fit --max-batch`", {"size": found["size"], "trials": found["runs"]})
            wrong = wrong or fitting != found["size"] or fitting < best
            if most:
                largest = prober.largest(program, most)
                print(f"| `{program}.py` | every size, one by one | {largest} | {most} | fits |", flush=True)
                wrong = wrong or largest != found["size"]
    return int(wrong)


def row(prober: Prober, program: str, name: str, found: dict) -> int:
    """A line of the table; the size if it fits."""
    fits = prober.fits(program, found["size"])
    print(f"| `{program}.py` | {name} | {found['size']} | {found['trials']} | {'fits' if fits else 'runs out'} |", flush=True)
    return found["size"] if fits else 0


def main() -> int:
    """See `compare`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oomph", type=Path, required=True, help="the binary")
    parser.add_argument("--python", type=Path, required=True, help="a Python with Lightning and accelerate")
    parser.add_argument("--gpu", default=GPU)
    parser.add_argument("--vram", default=VRAM)
    parser.add_argument("--scan", type=int, nargs="?", const=MOST, default=0, metavar="MOST", help="also try every size up to MOST")
    arguments = parser.parse_args()
    return compare(arguments.oomph, arguments.python, ("--gpu", arguments.gpu, "--vram", arguments.vram), arguments.scan)


if __name__ == "__main__":
    sys.exit(main())
