"""Runs `oomph check` with another PyTorch than the tests', and compares the report with PyTorch's counters.

    PYTHON tests/compat/check.py --oomph target/release/oomph

The tested PyTorch is that of PYTHON. For each program:

1. the peaks are `max_memory_allocated()` and `max_memory_reserved()`, as printed by the program under `check`, to the byte;
2. without the agent, under `oomph phantom`, the output is the same: the agent changed nothing;
3. the parts of the breakdown add up to the peak;
4. step and phase of the peak are known, and every site has them;
5. parameters and optimizer state, if printed by the program, equal the breakdown's;
6. nothing in the agent failed.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import suite
import torch

ROOT = Path(__file__).resolve().parents[2]
GPU = "rtx-4090"
PATIENCE = 600
PROGRAMS = (
    ("examples/mlp.py",),
    ("tests/compat/transformer.py",),
    ("examples/gpt2.py", "--batch-size", "4"),
    ("examples/gpt2.py", "--batch-size", "4", "--bf16"),
    ("examples/gpt2.py", "--batch-size", "16"),
)
PEAK = re.compile(r"^peak (\d+) (\d+)$", re.MULTILINE)
PARTS = re.compile(r"^parts (\d+) (\d+)$", re.MULTILINE)


class Checker:
    """A program under `check` and without it."""

    def __init__(self, oomph: Path, program: tuple[str, ...], cache: str) -> None:
        self.oomph = oomph
        self.program = (str(ROOT / program[0]), *program[1:])
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("OOMPH_", "PYTORCH_", "CUDA_", "LD_"))}
        self.environment["OOMPH_CACHE_DIR"] = cache
        self.problems: list[str] = []

    def run(self) -> str:
        """Checks everything; returns the text to show."""
        checked = self._run("check", "--json", "--verbose", "--steps", "0", "--gpu", GPU, "--python", sys.executable, *self.program)
        report = json.loads(checked.stdout)
        self._expect("the version", report["torch"], torch.__version__)
        self._expect("what the agent says", "oomph agent:" in checked.stderr, False)
        if report["verdict"] == "oom":
            self._ran_out(report, checked.stderr)
        else:
            self._fits(report, checked.stderr)
        peak = report["peak"]
        self._expect("the sum of the parts", sum(part["bytes"] for part in report["breakdown"]), peak["allocated_bytes"])
        self._expect("whether the place of the peak is known", bool(peak["step"] and peak["phase"]), True)
        unplaced = [site["bytes"] for site in report["sites"] if not site["step"] or not site["phase"]]
        self._expect("sites without a place", unplaced, [])
        return f"{report['verdict']:14}{peak['allocated_bytes']:16,}{peak['reserved_bytes']:16,}  step {peak['step']}, {peak['phase']}"

    def _fits(self, report: dict, stderr: str) -> None:
        peak = report["peak"]
        found = peak["allocated_bytes"], peak["reserved_bytes"]
        self._expect("the peaks", found, _last_peak(stderr))
        bare = self._run("phantom", "--gpu", GPU, "--", sys.executable, *self.program)
        self._expect("the peaks without the agent", found, _last_peak(bare.stdout))
        for parameters, state in PARTS.findall(stderr):
            parts = {part["category"]: part["bytes"] for part in report["breakdown"]}
            found = parts.get("parameters"), parts.get("optimizer_state", parts.get("optimizer-state"))
            self._expect("parameters and optimizer state", found, (int(parameters), int(state)))

    def _ran_out(self, report: dict, stderr: str) -> None:
        bare = self._run("phantom", "--gpu", GPU, "--", sys.executable, *self.program)
        self._expect("an out of memory without the agent", "OutOfMemoryError" in bare.stderr, True)
        asked = re.search(r"Tried to allocate ([\d.]+) (\w+)", bare.stderr)
        units = {"MiB": 1 << 20, "GiB": 1 << 30}
        found = f"{report['oom']['requested_bytes'] / units[asked[2]]:.2f}" if asked else None
        self._expect("the request that failed", found, asked and asked[1])

    def _run(self, *arguments: str) -> subprocess.CompletedProcess:
        command = (str(self.oomph), *arguments)
        return subprocess.run(command, env=self.environment, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)

    def _expect(self, what: str, found, expected) -> None:
        if found != expected:
            self.problems.append(f"{what}: {found}, expected {expected}")


def _last_peak(text: str) -> tuple[int, int] | None:
    found = PEAK.findall(text)
    return (int(found[-1][0]), int(found[-1][1])) if found else None


def check(oomph: Path, program: tuple[str, ...], cache: str) -> str:
    """Checks a program; returns the text to show."""
    checker = Checker(oomph, program, cache)
    shown = checker.run()
    assert not checker.problems, "\n".join(f"    {problem}" for problem in checker.problems)
    return shown


def main() -> int:
    """Exit status 1 if a program fails."""
    arguments = suite.parser(__doc__).parse_args()
    print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch._C._cudnn.getVersionInt()}")
    with tempfile.TemporaryDirectory(prefix="oomph-compat-") as cache:
        oomph = arguments.oomph.absolute()
        cases = [suite.Case(" ".join(program), partial(check, oomph, program, cache)) for program in PROGRAMS]
        return suite.run("compat", cases, arguments)


if __name__ == "__main__":
    sys.exit(main())
