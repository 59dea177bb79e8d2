"""How long a memory snapshot takes to read and explain, and how much memory: oomph beside the other tools.

    python benches/explain.py --oomph target/release/oomph --python .venv/bin/python
        [--reader target/release/examples/read] [--peers PYTHON] [--megabytes 16 165 1000] [--others-up-to 165]

Snapshots of each size are made first, by `benches/snapshots.py`. Then whole processes are timed, one after another;
in brackets the seconds that they were on a core, which other work on the machine does not lengthen:

    oomph explain     reads, walks and explains; the report goes nowhere
    trace reader      reads only: `cargo build --release -p trace --example read`
    pickle.load       Python's own reader, which executes what the file says and explains nothing
    trace_plot        the page that `torch.cuda._memory_viz` makes
    mosaic, ptmem, pt-snap    where `--peers` names a Python whose environment has them

What is absent or fails is said. Larger files than `--others-up-to` are given to oomph and pickle.load only: the others
take minutes, and many gigabytes.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent

LOAD = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))"

# The console script that each package installs, and what it takes to say when memory was fullest.
PEERS = [
    ("mosaic", "mosaic_get_memory_usage_peak", ["--snapshot", "{file}", "--trace", "", "--paste", "False"]),
    ("ptmem", "ptmem", ["--summary", "{file}"]),
    ("pt-snap", "pt-snap", ["import", "{file}", "--output-dir", "{folder}", "--no-focus", "--force"]),
]


def main() -> None:
    """Makes the snapshots, times every command on each, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oomph", required=True)
    parser.add_argument("--python", required=True, help="with torch")
    parser.add_argument("--reader", help="the example `read` of the crate `trace`")
    parser.add_argument("--peers", help="a Python with other tools installed")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[16, 165, 1000])
    parser.add_argument("--others-up-to", type=int, default=165)
    parser.add_argument("--timeout", type=int, default=600, help="seconds for each command")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print(f"{'':<16}" + "".join(f"{size:>14} MB {'':>10}" for size in arguments.megabytes))
    with tempfile.TemporaryDirectory() as folder:
        files = [make(size, arguments, folder) for size in arguments.megabytes]
        for name, command, everywhere in commands(arguments, folder):
            cells = [cell(command, file, size, everywhere, arguments) for file, size in zip(files, arguments.megabytes)]
            print(f"{name:<16}" + "".join(f"{text:>28}" for text in cells), flush=True)


def make(size: int, arguments: argparse.Namespace, folder: str) -> pathlib.Path:
    """A snapshot of so many megabytes."""
    out = pathlib.Path(folder, f"{size}.pickle")
    command = [arguments.python, HERE / "snapshots.py", "--oomph", arguments.oomph, "--python", arguments.python]
    subprocess.run([*command, "--megabytes", str(size), out], check=True, stdout=subprocess.DEVNULL)
    return out


def commands(arguments: argparse.Namespace, folder: str) -> list[tuple[str, list[str] | str, bool]]:
    """Name, command or why there is none, and whether it is run on the largest files too."""
    page = os.path.join(folder, "page.html")
    trace_plot = [arguments.python, "-m", "torch.cuda._memory_viz", "trace_plot", "{file}", "-o", page]
    reader = [arguments.reader, "{file}"] if arguments.reader else "no --reader"
    return [
        ("oomph explain", [arguments.oomph, "explain", "{file}"], True),
        ("trace reader", reader, True),
        ("pickle.load", [arguments.python, "-c", LOAD, "{file}"], True),
        ("trace_plot", trace_plot, False),
        *((name, peer(script, rest, arguments.peers, folder), False) for name, script, rest in PEERS),
    ]


def peer(script: str, rest: list[str], python: str | None, folder: str) -> list[str] | str:
    """The command of another tool, if it is installed beside that Python."""
    if python is None:
        return "no --peers"
    path = pathlib.Path(python).absolute().parent / script
    return [str(path), *(part.replace("{folder}", folder) for part in rest)] if path.exists() else "not installed"


def cell(command: list[str] | str, file: pathlib.Path, size: int, everywhere: bool, arguments) -> str:
    """One cell of the table: seconds and peak memory, or why there are none."""
    if isinstance(command, str):
        return command
    if not everywhere and size > arguments.others_up_to:
        return "not run"
    try:
        status, seconds, busy, peak = timed([part.replace("{file}", str(file)) for part in command], arguments.timeout)
    except subprocess.TimeoutExpired:
        return f"> {arguments.timeout} s"
    # `oomph explain` ends with 1 where it found something.
    fine = status == 0 or status == 1 and command[0] == arguments.oomph
    return f"{seconds:.2f} s ({busy:.2f}) {peak / 2**20:.0f} MiB" if fine else f"exit status {status}"


def timed(command: list[str], timeout: int) -> tuple[int, float, float, int]:
    """Exit status, wall seconds, seconds on a core, and the resident memory in bytes of the largest process that it was."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        seconds = time.perf_counter() - start
        if done:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
        if seconds > timeout:
            process.kill()
            process.wait()
            raise subprocess.TimeoutExpired(command, timeout)
        time.sleep(0.002)


if __name__ == "__main__":
    sys.exit(main())
