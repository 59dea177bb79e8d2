"""How long `oomph check` takes, beside what the script's own imports take: whole processes, medians.

    python benches/run.py --oomph target/release/oomph --python .venv/bin/python [--runs 5]

Three commands are timed in turn, run by run, so that a drifting machine drifts for all of them:

    imports   the Python, with the script's own imports and nothing else: nobody can be faster than this
    phantom   the script on the phantom GPU, nothing recorded
    check     `oomph check`: recorded, analysed, reported

The last column is the median of check / imports, pair by pair.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

CASES = [
    ("gpt2.py 8 x 512 bf16, 3 steps", ["examples/gpt2.py", "--batch-size", "8", "--seq-len", "512", "--bf16"], "3",
     "import torch; from transformers import GPT2Config, GPT2LMHeadModel"),
    ("resnet50.py 32, 3 steps", ["examples/resnet50.py"], "3", "import torch, torchvision"),
    ("mlp.py, 3 steps", ["examples/mlp.py"], "3", "import torch"),
    ("deep_mlp.py, 300 steps", ["tests/programs/deep_mlp.py"], "300", "import torch"),
]


def main() -> None:
    """Times every case and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oomph", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    oomph, python = (os.path.abspath(path) for path in (arguments.oomph, arguments.python))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {arguments.runs} runs each after one warm-up\n")
    print(f"{'':<32} {'imports':>8} {'phantom':>8} {'check':>8} {'check RSS':>10} {'check/imports':>14}")
    for name, program, steps, imports in CASES:
        commands = [
            [python, "-c", imports],
            [oomph, "phantom", "--gpu", "rtx-4090", "--", python, *program],
            [oomph, "check", "--python", python, "--gpu", "rtx-4090", "--steps", steps, "--json", *program],
        ]
        print_row(name, [[timed(command) for command in commands] for _ in range(arguments.runs + 1)][1:])


def timed(command: list[str]) -> tuple[float, int]:
    """Wall seconds of a command, and the resident memory in bytes of the largest process it waited for."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(command)}: exit status {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def print_row(name: str, runs: list[list[tuple[float, int]]]) -> None:
    """One line of the table: medians."""
    seconds = [statistics.median(run[column][0] for run in runs) for column in range(3)]
    rss = max(run[2][1] for run in runs)
    ratio = statistics.median(run[2][0] / run[0][0] for run in runs)
    cells = "".join(f"{value:>7.2f} s" for value in seconds)
    print(f"{name:<32}{cells} {rss / 2**30:>6.2f} GiB {ratio:>14.2f}")


if __name__ == "__main__":
    main()
