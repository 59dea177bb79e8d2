"""PyTorch's own CUDA tests on the phantom: the passing tests, beside the list of required ones.

    python tests/pytorch/check.py --oomph target/release/oomph --tests /path/to/pytorch/test [--update] [WORD ...]

The tests belong to the installed version of PyTorch, lie outside the repository, and are never copied into it. Each file runs in a process
under `oomph check`, so that the agent knows known values; a test that ends its process, or takes too long, is noted and the rest go on in
the next process. `passing-VERSION.txt` lists the ids that must pass; `--update` writes the list, and prints the failing tests with the
first line of their messages.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent

# Numbers of devices, and the files of `test/` for each.
FILES = {
    1: (
        "test_cuda.py",
        "test_cuda_trace.py",
        "test_cuda_nvml_based_avail.py",
        "inductor/test_cudagraph_trees.py",
        "distributed/_tools/test_mem_tracker.py",
        "distributed/_tools/test_sac_estimator.py",
    ),
    2: (
        "test_cuda_multigpu.py",
        "test_cuda_primary_ctx.py",
        "distributed/_tools/test_fsdp2_mem_tracker.py",
        "distributed/_composable/fsdp/test_fully_shard_memory.py",
        "distributed/fsdp/test_fsdp_memory.py",
    ),
}
# Files whose tests need a process each: they ask if CUDA was used before.
FRESH = {"test_cuda_primary_ctx.py", "test_cuda_nvml_based_avail.py"}
FILE_SECONDS = 1800
# Texts of PyTorch's helpers about an answer other than a CPU's, or the test's.
VALUES = re.compile(r"(Tensor-likes|Scalars|Sequences|Booleans) are not|Scalars are not|mismatch|not (almost )?equal|!= ", re.I)


def main() -> int:
    """Exit status 1 if a test of the list does not pass."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oomph", type=Path, required=True)
    parser.add_argument("--tests", type=Path, required=True, help="the folder `test` of PyTorch's sources, of the installed version")
    parser.add_argument("--update", action="store_true", help="write the lists")
    parser.add_argument("words", nargs="*", help="run the files whose name has one of these words")
    arguments = parser.parse_args()
    if not (arguments.tests / "test_cuda.py").is_file():
        parser.error(f"{arguments.tests} has no test_cuda.py: expected the folder `test` of PyTorch's sources")
    version = read_version()
    found: dict[str, tuple[str, str]] = {}
    for devices, names in FILES.items():
        for name in names:
            if (arguments.tests / name).is_file() and (not arguments.words or any(word in name for word in arguments.words)):
                outcomes = run_file(arguments.oomph.absolute(), arguments.tests.absolute(), name, devices)
                print(name, dict(sorted(Counter(outcome for outcome, _ in outcomes.values()).items())), flush=True)
                found |= outcomes
                if arguments.update:
                    update(version, outcomes)
    print("in all", dict(sorted(Counter(outcome for outcome, _ in found.values()).items())))
    return compare(version, found)


def read_version() -> str:
    """The version of the installed PyTorch, without the build."""
    import torch

    return torch.__version__.partition("+")[0]


def run_file(oomph: Path, tests: Path, name: str, devices: int) -> dict[str, tuple[str, str]]:
    """The outcome and its first line, by id."""
    outcomes: dict[str, tuple[str, str]] = {}
    with tempfile.TemporaryDirectory(prefix="oomph-pytorch-") as folder:
        while True:
            before = len(outcomes)
            written, done = Path(folder, "outcomes"), Path(folder, "done")
            done.write_text("\n".join(outcomes), encoding="utf-8")
            # A file that is there already would stay.
            written.unlink(missing_ok=True)
            status = run_pytest(oomph, tests, name, devices, written, done)
            outcomes |= read_outcomes(written, status)
            if len(outcomes) == before:
                return outcomes


def run_pytest(oomph: Path, tests: Path, name: str, devices: int, written: Path, done: Path) -> str:
    """Runs the remaining tests of a file; returns the end of the process, for the test that ended it."""
    ours = {"OUTCOMES": str(written), "DONE": str(done), "TEST_FOLDER": str(tests), "PYTHONPATH": str(HERE)}
    if name in FRESH:
        ours["ONE"] = "1"
    # `PYTORCH_TEST_WITH_SLOW` is not set: what PyTorch calls slow is left out, as in its own runs on pull requests.
    words = [oomph, "check", "--keep-files", "--gpu", "h100-sxm", "--gpus", devices, "--steps", 0, "--timeout", FILE_SECONDS, "--"]
    pytest = [sys.executable, "-m", "pytest", "-p", "outcomes", "-p", "no:cacheprovider", "--noconftest", "-q", "--no-header", "--tb=no", tests / name]
    # A folder to write in: the tests leave files behind.
    done_run = subprocess.run(
        [str(word) for word in [*words, *pytest]],
        cwd=written.parent,
        env=os.environ | ours,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=2 * FILE_SECONDS,
    )
    if not written.exists() and not done.read_text(encoding="utf-8"):
        raise SystemExit(f"{name}: no test began\n{done_run.stdout}{done_run.stderr}")
    said = re.search(r"signal (\d+) ended|exit status (\d+)|stopped by --timeout", done_run.stdout + done_run.stderr)
    return said[0] if said else "the process ended"


def read_outcomes(written: Path, status: str) -> dict[str, tuple[str, str]]:
    """The outcomes that a process wrote; a test that began last without an end ended the process."""
    outcomes: dict[str, tuple[str, str]] = {}
    begun = None
    for line in written.read_text(encoding="utf-8").splitlines() if written.exists() else ():
        record = json.loads(line)
        begun = record.get("begin")
        # A second run of a process that ended early says nothing new.
        if "end" in record:
            outcomes.setdefault(record["end"], (record["outcome"], record["message"]))
    if begun is not None and begun not in outcomes:
        outcomes[begun] = "ended", status
    return outcomes


def reason(outcome: str, message: str) -> str:
    """Why a test does not pass, as far as its message says."""
    if outcome == "failed" and VALUES.search(message):
        return "value"
    return "ended" if outcome == "ended" else "other"


def update(version: str, found: dict[str, tuple[str, str]]) -> None:
    """Writes both lists; tests of other files stay."""
    ran = {name.partition("::")[0] for name in found}
    passing = [name for name in read_list(version) if name.partition("::")[0] not in ran]
    passing += [name for name, (outcome, _) in found.items() if outcome == "passed"]
    (HERE / f"passing-{version}.txt").write_text("".join(f"{name}\n" for name in sorted(passing)), encoding="utf-8")
    failing = [f"{reason(*ended)}\t{name}\t{ended[1]}" for name, ended in found.items() if ended[0] in ("failed", "ended")]
    print(*sorted(failing), sep="\n")


def read_list(version: str) -> list[str]:
    """The ids that must pass."""
    path = HERE / f"passing-{version}.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def compare(version: str, found: dict[str, tuple[str, str]]) -> int:
    """Names the required tests that fail, and the passing tests outside the list."""
    must, ran = read_list(version), {name.partition("::")[0] for name in found}
    wrong = [name for name in must if name.partition("::")[0] in ran and found.get(name, ("absent", ""))[0] != "passed"]
    for name in wrong:
        outcome, message = found.get(name, ("absent", ""))
        print(f"must pass: {name}: {outcome} {message}")
    more = [name for name, (outcome, _) in found.items() if outcome == "passed" and name not in set(must)]
    if more and must:
        print(f"{len(more)} pass that are not in the list; --update adds them")
    if not must:
        print(f"there is no list for PyTorch {version}; --update writes one")
    return 1 if wrong or not must else 0


if __name__ == "__main__":
    sys.exit(main())
