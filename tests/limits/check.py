"""Every program of the tests on devices around its need: no verdict `fits` for a device below the need.

    python tests/limits/check.py --oomph target/release/oomph [WORD ...]

A program is checked on a device far larger than its need, which shows the need and the peak of allocated memory. Then:

- at the need it fits, with nothing to spare;
- with one byte less it does not fit, or fits because PyTorch emptied its cache, as a finding reports;
- with one byte less than the allocated peak, the program does not fit, for any use of PyTorch's cache.

The figures are compared among themselves, so nothing here is copied from an output. A program in search of its own batch size by running
out may fit everywhere.
"""

import json
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import suite

TESTS = suite.ROOT / "tests"
PATIENCE = 900
LARGE = "4096GiB"
# The words of a fit, in whole or so far.
FITS = "fits", "fits_so_far"
GPU = "rtx-4090"
# Programs with necessary arguments.
ARGUMENTS = {"examples/gpt2.py": ["--batch-size", "2"]}
# Programs too large for a device of their need, with the reason.
UNFIT = {
    "tests/causes/cases/small_gpu_fraction/program.py": "it takes a quarter of any device",
    "tests/caught/work/child_ignored.py": "its need is that of one process, and two run at once",
}
# Programs whose need is not one number, with the reason.
CHANCE = {
    "tests/caught/blind/injected_error_test.py": "its mocks and their tracebacks form cycles: whether two models are still there depends on when Python's collector runs",
}
# Each program is checked on some ten devices.
SHARE = 0.02


def main() -> int:
    """Exit status 1 if a program is said to fit where it cannot."""
    arguments = suite.parser(__doc__).parse_args()
    names = [str(path.relative_to(suite.ROOT)) for path in list_programs()]
    oomph = arguments.oomph.absolute()
    return suite.run("limits", [suite.Case(name, partial(judge, oomph, name), group="programs", share=SHARE) for name in names], arguments)


def list_programs() -> list[Path]:
    """The programs that run by themselves on a single device."""
    patterns = ("programs/*.py", "causes/cases/*/*.py", "caught/*/*.py")
    return [suite.ROOT / "examples" / name for name in ("mlp.py", "gpt2.py", "resnet50.py")] + sorted(
        path for pattern in patterns for path in TESTS.glob(pattern) if path.name != "check.py"
    )


def judge(oomph: Path, name: str) -> str:
    """Checks a program on four devices; returns its need."""
    if name in CHANCE:
        raise suite.Skip(CHANCE[name])
    first = check(oomph, name, LARGE)
    if first.get("verdict") not in FITS:
        raise suite.Skip(f"on {LARGE} the verdict is {first.get('verdict')}: {first.get('reason') or first.get('problem')}")
    need = first["need"]
    whole = need["device_bytes"]
    least = whole - need["reserved_bytes"] + need["allocated_bytes"]
    at = check(oomph, name, f"{whole}B")
    assert is_fit(at) != (name in UNFIT), f"at its need, {whole}: {describe(at)}"
    below = check(oomph, name, f"{whole - 1}B")
    assert is_oom(below) or (is_fit(below) and has(below, "cache-flushed")), f"at {whole - 1}, one byte below its need: {describe(below)}"
    lowest = check(oomph, name, f"{least - 1}B")
    assert is_oom(lowest), f"at {least - 1}, one byte below what is allocated: {describe(lowest)}"
    return f"{whole:,} bytes"


def check(oomph: Path, name: str, vram: str) -> dict:
    """The report of a program on a device of this size, or the error."""
    program = [suite.ROOT / name, *ARGUMENTS.get(name, [])]
    words = [oomph, "check", "--json", "--gpu", GPU, "--vram", vram, "--python", Path(sys.executable).absolute(), *program]
    # Some programs write files.
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=PATIENCE, cwd=folder)
    document = json.loads(done.stdout)
    return {"problem": document["error"]["message"]} if "error" in document else document | {"status": done.returncode}


def is_fit(report: dict) -> bool:
    """True for a program that fits, in whole or so far, without a contradicting finding."""
    contradicts = has(report, "need-exceeds-device") and not has(report, "cache-flushed")
    return report.get("verdict") in FITS and report["status"] == 0 and report["spare_bytes"] >= 0 and not contradicts


def is_oom(report: dict) -> bool:
    """`oom`, or a search that ended with a smaller size."""
    return (report.get("verdict"), report.get("status")) == ("oom", 1) or bool(report.get("search"))


def has(report: dict, rule: str) -> bool:
    """True if the report has a finding of this rule."""
    return any(finding["rule"] == rule for finding in report["findings"])


def describe(report: dict) -> str:
    """The verdict and its figures in a line."""
    if "problem" in report:
        return report["problem"]
    rules = ", ".join(finding["rule"] for finding in report["findings"])
    return f"{report['verdict']} ({report.get('reason')}), spare {report['spare_bytes']}, need {report['need']['device_bytes']}; {rules}"


if __name__ == "__main__":
    sys.exit(main())
