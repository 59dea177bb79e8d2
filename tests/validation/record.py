"""Records the memory of each program of the suite on this machine's GPU: the truth for predictions.

    python tests/validation/record.py --out tests/validation/truth [NAME ...]

Needs a GPU, torch, torchvision and transformers, and nothing of oomph. Each program has a process of its own, forked from this process,
which imports the packages once and never touches the GPU; a program with variables of its own gets a fresh interpreter. Existing records
are not repeated, so that a broken run can be continued. The result is a small JSON file for each program, in a folder named after the GPU.

A phantom GPU answers as a real GPU would, except that it computes nothing: a record is true only if the device multiplied two matrices. All
others are marked `"real": false`, written to `phantom/`, and refused by compare.py.
"""

import argparse
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.dont_write_bytecode = True

from catalogue import HERE, Program, chosen

PATIENCE = 120
# Imports of nearly every program, the slowest ones.
PRELOADED = ("torch", "torchvision", "transformers.modeling_utils")
# The most bytes of a file in the repository.
LARGEST = 20 << 10


def main() -> int:
    """Exit status 0 if every program that can run here was recorded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the folder for the records")
    parser.add_argument("--again", action="store_true", help="run those too that are there already")
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs or kinds of them (default: all)")
    arguments = parser.parse_args()
    programs = chosen(arguments.names)
    device = json.loads(_child("device"))
    folder = arguments.out.absolute() / (device["slug"] if device["real"] else f"phantom/{device['slug']}")
    folder.mkdir(parents=True, exist_ok=True)
    for package in PRELOADED:
        importlib.import_module(package)
    print(f"{device['name']}, driver {device['driver']}, torch {device['versions']['torch']}: {folder}", flush=True)
    if not device["real"]:
        print("this GPU computes nothing: what it gives is no truth, and is marked so", flush=True)
    failed = [program.name for program in programs if not record(program, folder, device, arguments.again)]
    print(f"{len(programs) - len(failed)} of {len(programs)} are done{''.join(f', {name} FAILED' for name in failed)}")
    return 1 if failed else 0


def record(program: Program, folder: Path, device: dict, again: bool) -> bool:
    """Runs a program, unless it has a record or cannot run; prints the result in a line."""
    path = folder / f"{program.name}.json"
    if path.exists() and not again:
        return _say(program, "is there already", True)
    if program.missing:
        return _say(program, f"skipped: {', '.join(program.missing)} is not installed", True)
    if device["total_bytes"] < program.gib << 30:
        return _say(program, f"skipped: wants a GPU of {program.gib} GiB", True)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="record-") as scratch:
        fresh = Path(scratch) / "record.json"
        problem = run(program, fresh)
        if problem:
            return _say(program, f"FAILED: {problem}", False)
        text = fresh.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    end = json.loads(text)["end"]
    figures = f"{end['allocated_bytes']:14,} {end['reserved_bytes']:14,} {end['device_bytes']:14,}"
    return _say(program, f"{figures} {time.perf_counter() - started:6.1f} s", True)


def run(program: Program, out: Path) -> str | None:
    """Records a program; returns the error."""
    start = _child if program.environment else _forked
    try:
        start("program", out, program.script, *program.arguments, environment=program.variables())
    except subprocess.CalledProcessError as error:
        return f"ended with {error.returncode}\n{(error.stderr or '')[-3000:]}"
    except subprocess.TimeoutExpired:
        return f"did not end within {PATIENCE} s"
    size = out.stat().st_size
    return f"{size:,} bytes, at most {LARGEST:,} are kept" if size > LARGEST else None


def _child(*words, environment: dict | None = None) -> str:
    command = [sys.executable, HERE / "recording.py", *words]
    done = subprocess.run(
        [str(word) for word in command], env=environment, check=True, capture_output=True, text=True, timeout=PATIENCE
    )
    return done.stdout


def _forked(*words, environment: dict) -> None:
    """The same in a fork of this process."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            _run_in_fork([str(word) for word in words], environment, output.fileno())
        status = _wait(child)
        if status != 0:
            output.seek(0)
            raise subprocess.CalledProcessError(status, words[2], stderr=output.read().decode("utf-8", "replace"))


def _run_in_fork(words: list[str], environment: dict, output: int) -> None:
    """Never returns: what the parent would do next is not the child's to do."""
    status = 1
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["recording.py", *words]
        importlib.import_module("recording").main()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _wait(child: int) -> int:
    """The exit status; a program over the time limit is killed."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise subprocess.TimeoutExpired("recording.py", PATIENCE)


def _say(program: Program, what: str, is_done: bool) -> bool:
    print(f"{program.kind:12}{program.name:36}{what}", flush=True)
    return is_done


if __name__ == "__main__":
    sys.exit(main())
