"""How fast `oomph explain` reads a log, and in how much memory, beside `grep`.

    python benches/logs.py --oomph target/release/oomph [--megabytes 1000] [--errors 1000000]

Logs are made first, and read once so that they lie in memory: a healthy one, the same with an error at its end, and one
with an error at every step. Then whole processes are timed, one after another:

    oomph explain          megabytes per second of elapsed time and (in brackets) of time on a core, which other work on
                           the machine does not shorten; the largest resident memory
    grep "out of memory"   the same of `grep -c`, which looks for one string
"""

import argparse
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import time

# Bytes of the part of a log that is repeated.
PART = 8_000_000
TRACEBACK = """Traceback (most recent call last):
  File "/home/me/train.py", line 31, in main
    loss.backward()
"""
MESSAGE = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {}.00 MiB. GPU 0 has a total capacity of 24.00 GiB of which 7.61 MiB is free.\n"


def main() -> None:
    """Makes the logs, times both programs on each, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oomph", required=True)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--errors", type=int, default=1_000_000)
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    with tempfile.TemporaryDirectory() as folder:
        for name, path in make(pathlib.Path(folder), arguments):
            size = path.stat().st_size
            for program, command in commands(arguments.oomph, path):
                print(f"{name:<24}{size / 1e6:>6.0f} MB   {program:<22}{cell(command, size)}", flush=True)


def make(folder: pathlib.Path, arguments: argparse.Namespace):
    """Each log: its name and its file, in memory."""
    parts = -(-arguments.megabytes * 1_000_000 // PART)
    part = healthy_part()
    yield "no error", written(folder / "healthy.log", itertools.repeat(part, parts))
    yield "an error at its end", written(folder / "end.log", [*itertools.repeat(part, parts), TRACEBACK + MESSAGE.format(20)])
    yield f"{arguments.errors} errors", written(folder / "errors.log", (TRACEBACK + MESSAGE.format(step) for step in range(arguments.errors)))


def healthy_part() -> str:
    """Lines of a trainer, of a progress bar, and of ranks in colours."""
    return "".join(itertools.takewhile(Total(PART), (line(step) for step in itertools.count())))


class Total:
    """Tells when lines are of so many bytes together."""

    def __init__(self, most: int) -> None:
        self.left = most

    def __call__(self, text: str) -> bool:
        self.left -= len(text)
        return self.left > 0


def line(step: int) -> str:
    """One line of a log; no two are alike."""
    share = step * 7919 % 1000
    return (
        f"2026-11-21 10:{step // 60 % 60:02}:{step % 60:02},{share:03} INFO trainer.py:{share} | epoch {step // 1000} step {step} loss 2.{share:03} lr 3e-05\n",
        f"Epoch {step // 1000}: {step % 100:3}%|{'#' * (step % 30):<30}| {share}/1000 [00:{step % 60:02}<01:02, 4.{share:03}it/s]\r",
        f"[rank{step % 8}]: [\x1b[32mINFO\x1b[0m] GPU memory used: {share / 10} GiB of 80.00 GiB, dataloader workers called, checkpoint installed\n",
    )[step % 3]


def written(path: pathlib.Path, parts) -> pathlib.Path:
    """A file of these parts, whose pages are in memory."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(parts)
    subprocess.run(["cat", path], check=True, stdout=subprocess.DEVNULL)
    return path


def commands(oomph: str, path: pathlib.Path) -> list[tuple[str, list[str]]]:
    """Both programs."""
    return [("oomph explain", [oomph, "explain", str(path)]), ('grep "out of memory"', ["grep", "-c", "out of memory", str(path)])]


def cell(command: list[str], size: int) -> str:
    """Megabytes per second and peak memory; both programs end with 0 or 1."""
    status, seconds, busy, peak = measured(command)
    if status not in (0, 1):
        return f"exit status {status}"
    speed, speed_on_core = (size / 1e6 / max(duration, 1e-3) for duration in (seconds, busy))
    return f"{speed:>6.0f} MB/s ({speed_on_core:.0f}), {seconds:.2f} s, {peak / 1024:.1f} MiB"


def measured(command: list[str]) -> tuple[int, float, float, int]:
    """Exit status, wall seconds, seconds on a core, peak resident KiB. `ru_maxrss` would count this Python's memory, from before the exec."""
    start, peak = time.perf_counter(), 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        peak = peak_of(process.pid, command[0]) or peak
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        if done:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, time.perf_counter() - start, usage.ru_utime + usage.ru_stime, peak
        time.sleep(0.002)


def peak_of(process: int, program: str) -> int:
    """The largest resident memory of a process in KiB; 0 before it has become the program, and after its end."""
    status = pathlib.Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    lines = dict(line.split(":", 1) for line in status.splitlines())
    is_started = lines["Name"].strip() == pathlib.Path(program).name[:15]
    return int(lines["VmHWM"].split()[0]) if is_started and "VmHWM" in lines else 0


if __name__ == "__main__":
    sys.exit(main())
