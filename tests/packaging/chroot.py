"""Installs a wheel in a bare Debian, without Rust, compilers, PyTorch and GPU, and runs the commands that need none of them.

    sudo python3 tests/packaging/chroot.py dist/oomph-*.whl                     Debian 12
    sudo python3 tests/packaging/chroot.py dist/oomph-*.whl --suite trixie      Debian 13

Needs root, debootstrap and Debian's packages. The system is made once, in `target/chroots`; each run makes a new environment in it.
"""

import argparse
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = "python3,python3-venv,python3-pip"
MIRROR = "http://deb.debian.org/debian"
# From a pip that was never run to the explanation of a pasted error.
MOST_SECONDS = 60
# Of `oomph --version`, the fastest of twenty.
MOST_START_SECONDS = 0.020
ERROR = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.07 GiB. GPU 0 has a total capacity of 23.64 GiB of which 1.62 GiB is free. "
    "Including non-PyTorch memory, this process has 22.01 GiB memory in use. Of the allocated memory 17.84 GiB is allocated by PyTorch, and "
    "3.70 GiB is reserved by PyTorch but unallocated.\n"
)
PROGRAM = "import torch\nlosses = []\nfor step in range(9):\n    loss = model(x).sum()\n    loss.backward()\n    losses.append(loss)\n"
CLEAN = ["env", "-i", "PATH=/usr/bin:/bin", "HOME=/root", "LANG=C.UTF-8"]
# Of a command that needs PyTorch on x86-64: a line that says so, and a line with the next step.
REFUSED = r"^error: (the Python `/opt/oomph/bin/python3?` has no PyTorch|[^\n]+ this oomph is for aarch64)\nhint: [^\n]+\n$"
# Prints the time of the fastest of twenty starts, in seconds.
TIMER = """
import subprocess, time
def start():
    before = time.perf_counter()
    subprocess.run(["/opt/oomph/bin/oomph", "--version"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - before
print(f"{min(start() for _ in range(20)):.4f}")
"""


@dataclass(frozen=True)
class Step:
    """A command in the environment: its exit status, and a pattern of its output."""

    words: tuple[str, ...]
    status: int
    expected: str
    stdin: str = ""


STEPS = [
    Step(("oomph", "explain", "-"), 1, r"(?s)3\.07 GiB.*expandable_segments", ERROR),
    Step(("oomph", "--version"), 0, r"^oomph \d+\.\d+\.\d+\n$"),
    Step(("python", "-m", "oomph", "--version"), 0, r"^oomph \d+\.\d+\.\d+\n$"),
    Step(("oomph", "gpus", "rtx-4090"), 0, r"NVIDIA GeForce RTX 4090"),
    Step(("oomph", "rule", "graph-in-collection"), 0, r"graph"),
    Step(("oomph", "remedy", "gradient-accumulation"), 0, r"accumulat"),
    Step(("oomph", "lint", "-"), 1, r"graph-in-collection", PROGRAM),
    Step(("oomph", "completions", "bash"), 0, r"complete -F _oomph"),
    Step(("oomph", "top", "--once"), 2, r"^error: [^\n]+\nhint: [^\n]+\n$"),
    Step(("oomph", "check", "--gpu", "rtx-4090", "train.py"), 2, REFUSED),
    Step(("oomph", "fit", "--gpu", "rtx-4090", "train.py"), 2, REFUSED),
    Step(("oomph", "check", "--python", "/usr/bin/python4", "train.py"), 2, r"^error: [^\n]+\nhint: [^\n]+\n$"),
]


def main() -> int:
    """Exit status 1 for any problem; each is printed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--suite", default="bookworm", help="the release of Debian")
    arguments = parser.parse_args()
    system = make_system(arguments.suite)
    problems = list(install(system, arguments.wheel.resolve())) or [*run_steps(system), *measure_start(system), *find_share(system)]
    print("\n".join(problems) or f"installs and runs in a bare Debian ({arguments.suite})")
    return bool(problems)


def make_system(suite: str) -> Path:
    """The folder of the system; an unfinished one is made again."""
    system, ready = ROOT / "target/chroots" / suite, ROOT / "target/chroots" / f"{suite}.ready"
    if not ready.exists():
        shutil.rmtree(system, ignore_errors=True)
        system.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite, system, MIRROR], check=True, stdout=subprocess.DEVNULL)
        ready.touch()
    return system


def enter(system: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess:
    """Runs a command in the system; its streams are one."""
    command = ["chroot", system, *CLEAN, "sh", "-c", 'cd /root && PATH="/opt/oomph/bin:$PATH" && exec "$@"', "sh", *words]
    return subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def install(system: Path, wheel: Path):
    """Makes an environment, installs the wheel, and explains a pasted error: yields what went wrong, and a time that is too long."""
    shutil.rmtree(system / "opt/oomph", ignore_errors=True)
    shutil.copy(wheel, system / "root")
    (system / "root/train.py").write_text(PROGRAM, encoding="utf-8")
    started = time.monotonic()
    commands = [("python3", "-m", "venv", "/opt/oomph"), ("pip", "install", "--quiet", "--no-index", f"/root/{wheel.name}"), STEPS[0].words]
    for words in commands:
        ended = enter(system, *words, stdin=ERROR)
        if ended.returncode != (STEPS[0].status if words is commands[-1] else 0):
            yield f"{words}: exit status {ended.returncode}: {ended.stdout}"
            return
    seconds = time.monotonic() - started
    print(f"from a new environment to the explanation of a pasted error: {seconds:.1f} s; the wheel has {wheel.stat().st_size / 2**20:.2f} MiB")
    if seconds > MOST_SECONDS:
        yield f"{seconds:.0f} s, at most {MOST_SECONDS} are allowed"


def run_steps(system: Path):
    """Yields each step that ends otherwise than expected."""
    for step in STEPS:
        ended = enter(system, *step.words, stdin=step.stdin)
        print(f"$ {' '.join(step.words)}\n{ended.stdout[:300].rstrip()}\n")
        if ended.returncode != step.status or not re.search(step.expected, ended.stdout):
            yield f"{' '.join(step.words)}: exit status {ended.returncode}, expected {step.status} and `{step.expected}`: {ended.stdout}"


def measure_start(system: Path):
    """Yields a start that takes too long."""
    seconds = float(enter(system, "python", "-c", TIMER).stdout)
    print(f"oomph --version: {seconds * 1000:.1f} ms, the fastest of twenty")
    if seconds > MOST_START_SECONDS:
        yield f"`oomph --version` takes {seconds * 1000:.0f} ms, at most {MOST_START_SECONDS * 1000:.0f} are allowed"


def find_share(system: Path):
    """Yields each file of the wheel's data that is not installed."""
    names = ["man/man1/oomph.1", "man/man1/oomph-check.1", "bash-completion/completions/oomph", "zsh/site-functions/_oomph", "fish/vendor_completions.d/oomph.fish"]
    for name in names:
        if not (system / "opt/oomph/share" / name).is_file():
            yield f"share/{name} is not installed"


if __name__ == "__main__":
    sys.exit(main())
