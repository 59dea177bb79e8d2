"""Programs that run out of memory and catch the error: the verdict, the line of the request, and the program's reaction.

    python tests/caught/check.py --oomph target/release/oomph [WORD ...]

The first lines of every program state the expectation, worked out by hand from its source. The code was written with `work`; `blind` was
written by somebody else and run afterwards.
"""

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import suite

PATIENCE = 900
# A program of each kind, for `make test`.
USUAL = {"benchmark_table", "skip_batch", "find_executable_batch_size", "control_halve_and_retry", "exit_zero", "future_unread"}
# Every verdict that a program may expect, as in `check --json` and the exit status.
VERDICTS = {"oom": ("oom", 1), "fits": ("fits", 0), "search": ("fits", 0)}


def main() -> int:
    """Exit status 1 if a program is not judged as its first lines say."""
    arguments = suite.parser(__doc__).parse_args()
    programs = sorted([*HERE.glob("work/*.py"), *HERE.glob("blind/*.py")])
    oomph = arguments.oomph.absolute()
    cases = [suite.Case(f"{path.parent.name}/{path.stem}", partial(judge, oomph, path), is_extra=path.stem not in USUAL) for path in programs]
    return suite.run("caught", cases, arguments)


def judge(oomph: Path, path: Path) -> str:
    """Checks the program and compares; returns the headline of the report."""
    expected = suite.read_expectations(path)
    command = [oomph, "check", "--json", "--gpu", "rtx-4090", "--vram", expected["vram"], "--python", sys.executable, path]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout, f"status {done.returncode}: {done.stderr}"
    report = json.loads(done.stdout)
    problems = list(differences(expected, report, done.returncode, path.name))
    assert not problems, "\n".join([*problems, *(finding["message"] for finding in report["findings"]), *report["notes"]])
    return report["verdict"]


def differences(expected: dict, report: dict, status: int, name: str):
    """Whatever is not as the program's first lines say."""
    # A program that fits so far fits, too.
    verdict = report["verdict"].removesuffix("_so_far"), status
    if verdict != VERDICTS[expected["verdict"]]:
        yield f"verdict and exit status {verdict}, expected {expected['verdict']} ({report.get('reason')})"
        return
    if verdict[0] == "fits":
        if (report["search"] is not None) != (expected["verdict"] == "search"):
            yield f"search {report['search']}, expected {expected['verdict']}"
        if report["spare_bytes"] < 0 or any(finding["rule"] == "need-exceeds-device" for finding in report["findings"]):
            yield f"fits, with {report['spare_bytes']} to spare and {[finding['rule'] for finding in report['findings']]}"
    oom = report["oom"] or {}
    caught = oom.get("caught") or {}
    taken = (report.get("search") or {}).get("caught_at") or caught.get("location") or {}
    figures = [
        ("line", (oom.get("location") or {}).get("line") if expected["verdict"] == "oom" else None),
        ("requested_bytes", oom.get("requested_bytes") if expected["verdict"] == "oom" else None),
        ("caught_line", taken.get("line") if str(taken.get("file", "")).endswith(name) else None),
    ]
    for key, found in figures:
        is_asked = found is not None or (key == "caught_line" and not taken)
        if key in expected and is_asked and found != int(expected[key]):
            yield f"{key} {found}, expected {expected[key]}"
    if expected["verdict"] == "oom" and "line" in expected and not oom.get("location"):
        yield f"no line of the request, expected {expected['line']}"
    ended = re.fullmatch(r"ended with status (\d+)", expected.get("then", ""))
    if ended and caught and caught.get("then") == "ended" and caught.get("status") != int(ended[1]):
        yield f"{caught}, expected {expected['then']}"


if __name__ == "__main__":
    sys.exit(main())
