"""`oomph run --with` and `oomph run --retry`: remedies on the device of the machine.

    python tests/retry/check.py --oomph target/release/oomph [WORD ...]

A phantom GPU stands for the real one; the dry runs of the search have a phantom of their own. Each program of `work` adds a letter to `runs.txt` at
its start: the number of letters is the number of real runs, because dry runs change no files. Expectations are worked out by hand from the
sources, and were written before the code.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import suite

PATIENCE = 1200
# The watchdog has so many seconds.
PATIENCE_AFTER_END = 60
# The share of the runs in `make test`.
SHARE = 0.1


@dataclass(frozen=True)
class Expected:
    """A command line, and what comes of it."""

    # The program and its arguments.
    program: str
    # Options of `oomph run`.
    options: str
    status: int
    # How often the program runs for real.
    runs: int
    # Parts of the output, both streams.
    says: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    vram: str = "4GiB"


CASES = {
    "checkpoints let it fit": Expected(
        "activations.py", "--retry", 0, 2, ("retry 1 of 1 with activation-checkpointing", "less at the peak", "verified", "trained"), vram="2GiB"
    ),
    "settings of the allocator let it fit": Expected(
        "gaps.py", "--retry=2", 0, 2, ("retry 1 of 2 with allocator-settings", "verified", "joined 3")
    ),
    "nothing fits": Expected("huge.py", "--retry", 1, 1, ("no retry: no change", "8.00 GiB requested")),
    "nothing fits, and the status is the program's": Expected("huge.py 7", "--retry", 7, 1, ("no retry",)),
    "a step was made": Expected("grows.py", "--retry", 1, 1, ("no retry: 1 step", "--resumes"), vram="2GiB"),
    "a step was made, and the program resumes": Expected(
        "grows.py", "--retry --resumes", 0, 2, ("retry 1 of 1 with activation-checkpointing", "trained"), vram="2GiB"
    ),
    "another end": Expected("exits.py", "--retry", 3, 1, ("ended with",), ("retry",)),
    "a good end": Expected("trains.py", "--retry", 0, 1, ("2 steps",), ("retry",)),
    "a smaller batch is not taken unasked": Expected(
        "batch.py", "--retry", 1, 1, ("no retry", "--retry-changes-results", "batch-size"), vram="3GiB"
    ),
    "a smaller batch is taken if asked": Expected(
        "batch.py", "--retry --retry-changes-results", 0, 2, ("retry 1 of 1 with batch-size",), ("rows 4096",), vram="3GiB"
    ),
    "with a remedy": Expected("trains.py", "--with optimizer-fused", 0, 1, ("with optimizer-fused", "hooks 0 fused True"), ("not applied",)),
    "without a remedy": Expected("trains.py", "", 0, 1, ("hooks 0 fused None",), ("applied",)),
    "with checkpoints": Expected("activations.py", "--with activation-checkpointing", 0, 1, ("trained",), ("not applied",), vram="2GiB"),
    "with settings": Expected("gaps.py", "--with allocator-settings=expandable_segments:True", 0, 1, ("joined 3",), ("not applied",)),
    "with a value": Expected(
        "trains.py", "--with activation-checkpointing=2", 0, 1, ("activation-checkpointing was not applied: Linear has no repeated blocks",)
    ),
    "with two remedies, one without effect": Expected(
        "trains.py",
        "--with optimizer-fused --with chunked-cross-entropy",
        0,
        1,
        ("chunked-cross-entropy was not applied", "fused True"),
        ("optimizer-fused was not applied",),
    ),
    "with a remedy, and no GPU": Expected("host.py", "--with optimizer-fused", 0, 1, ("done", "optimizer-fused was not applied")),
    "with a remedy, and out of memory": Expected(
        "huge.py", "--with optimizer-fused", 1, 1, ("8.00 GiB requested", "optimizer-fused was not applied")
    ),
    "an unknown remedy": Expected("trains.py", "--with faster", 2, 0, ("there is no remedy `faster`", "optimizer-fused")),
    "a remedy of dry runs": Expected("trains.py", "--with fully-shard:gpus=2", 2, 0, ("`fully-shard`", "dry run", "optimizer-fused")),
    "a remedy without settings": Expected("trains.py", "--with sdpa=3", 2, 0, ("`sdpa` has no setting",)),
    "both": Expected("trains.py", "--with sdpa --retry", 2, 0, ("cannot be used with",)),
}


def main() -> int:
    """Exit status 1 if a run is not as expected."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = arguments.oomph.absolute()
    cases = [suite.Case(name, partial(judge, oomph, it), memory=4, group="runs", share=SHARE, is_long="--retry" in it.options) for name, it in CASES.items()]
    cases += [
        suite.Case("Ctrl-C ends the search", partial(end_search, oomph, signal.SIGINT), memory=4),
        suite.Case("SIGKILL ends the search", partial(end_search, oomph, signal.SIGKILL), memory=4),
        suite.Case("one run in another", partial(nest, oomph)),
    ]
    return suite.run("retry", cases, arguments)


def command(oomph: Path, expected: Expected) -> list[str]:
    """The command line, with a phantom as the device."""
    script, *arguments = expected.program.split()
    device = [str(oomph), "phantom", "--gpu", "rtx-3060", "--vram", expected.vram, "--"]
    return [*device, str(oomph), "run", *expected.options.split(), "--", sys.executable, str(HERE / "work" / script), *arguments]


def judge(oomph: Path, expected: Expected) -> str:
    """Runs the command in an empty folder and compares; returns the lines about retries and remedies."""
    with tempfile.TemporaryDirectory(prefix="oomph-retry-") as folder:
        done = subprocess.run(command(oomph, expected), capture_output=True, text=True, timeout=PATIENCE, cwd=folder, stdin=subprocess.DEVNULL)
        runs = count_runs(folder)
        left = sorted({path.name for path in Path(folder).iterdir()} - {"runs.txt"})
    said = done.stdout + done.stderr
    problems = [f"`{text}` is not said" for text in expected.says if text not in said]
    problems += [f"`{text}` is said" for text in expected.silent if text in said]
    if (done.returncode, runs, left) != (expected.status, expected.runs, []):
        problems.append(f"status {done.returncode}, {runs} runs, files {left}; expected {expected.status}, {expected.runs} and none")
    assert not problems, "\n".join([*problems, *said.splitlines()[-30:]])
    return next((line[:110] for line in done.stderr.splitlines() if "retry" in line or "applied" in line), "")


def count_runs(folder: str) -> int:
    """The real runs of a program."""
    path = Path(folder) / "runs.txt"
    return len(path.read_text(encoding="ascii")) if path.exists() else 0


def end_search(oomph: Path, number: signal.Signals) -> str:
    """A signal during the search: the program does not run again, and nothing is left running."""
    with tempfile.TemporaryDirectory(prefix="oomph-retry-") as folder:
        status = -number if number == signal.SIGKILL else 128 + number
        expected = Expected("activations.py", "--retry", status, 1, vram="2GiB")
        with subprocess.Popen(
            command(oomph, expected), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder, start_new_session=True
        ) as running:
            said = next((line for line in running.stderr if "searches" in line), "")
            if number == signal.SIGKILL:
                running.kill()
            else:
                # As the keyboard does: to all processes of the group.
                os.killpg(running.pid, number)
            rest = running.communicate(timeout=PATIENCE)[1]
        wait_for_end(folder)
        runs = count_runs(folder)
    assert said and (running.returncode, runs) == (expected.status, 1), f"status {running.returncode}, {runs} runs: {said}{rest}"
    return rest.strip().splitlines()[-1] if rest.strip() else ""


def wait_for_end(folder: str) -> None:
    """Waits for the last process in a folder."""
    deadline = time.monotonic() + PATIENCE_AFTER_END
    while left := [pid for pid in filter(str.isdecimal, os.listdir("/proc")) if is_in(pid, folder)]:
        assert time.monotonic() < deadline, f"processes {left} go on"
        time.sleep(0.05)


def is_in(pid: str, folder: str) -> bool:
    """True if a process has this working directory."""
    try:
        return os.readlink(f"/proc/{pid}/cwd") == folder
    except OSError:
        return False


def nest(oomph: Path) -> str:
    """The inner of two runs applies its remedies, and the outer one records."""
    program = Expected("trains.py", "--with optimizer-fused", 0, 1)
    inner = command(oomph, program)
    at = inner.index("--") + 1
    with tempfile.TemporaryDirectory(prefix="oomph-retry-") as folder:
        line = [*inner[:at], str(oomph), "run", "--", *inner[at:]]
        done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, cwd=folder, stdin=subprocess.DEVNULL)
    assert done.returncode == 0 and "fused True" in done.stdout and "2 steps" in done.stderr, f"status {done.returncode}: {done.stdout}{done.stderr}"
    return done.stderr.strip().splitlines()[-1]


if __name__ == "__main__":
    sys.exit(main())
