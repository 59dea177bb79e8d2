"""Programs without an optimizer that fill the device from pass to pass, and look-alikes, whose memory is known by arithmetic.

    python tests/leaks/check.py --oomph target/release/oomph [--half work|blind] [WORD ...]

The first lines of every program say what is expected; README.md says what they mean.
"""

import html
import json
import re
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import suite

HALVES = "work", "blind"
PATIENCE = 900
WORDS = {"fits": ("fits", "fits_so_far"), "too large": ("oom",), "grows": ("oom",)}
MIB = 1 << 20


def main() -> int:
    """Exit status 1 if a report is not as the first lines of its program say."""
    parser = suite.parser(__doc__)
    parser.add_argument("--half", choices=HALVES, help="only this half [default: both]")
    arguments = parser.parse_args()
    oomph = arguments.oomph.absolute()
    programs = [path for half in HALVES for path in sorted(HERE.glob(f"{half}/*.py")) if arguments.half in (None, half)]
    cases = [suite.Case(f"{path.parent.name}/{path.stem}", partial(judge, oomph, path)) for path in programs]
    return suite.run("leaks", cases, arguments)


def judge(oomph: Path, path: Path) -> str:
    """Compares the report on a program; returns the first sentence."""
    expected = suite.read_expectations(path)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        options = ["--json", "--html", page, "--gpu", "rtx-4090", "--vram", expected["vram"], "--python", sys.executable]
        done = subprocess.run(list(map(str, [oomph, "check", *options, path])), capture_output=True, text=True, timeout=PATIENCE)
        assert page.exists(), f"no answer\n{done.stderr}"
        heading = re.search(r"<h1>(.*?)</h1>", page.read_text(encoding="utf-8"), re.DOTALL)
    sentence = html.unescape(re.sub(r"<[^>]*>", "", heading[1]))
    problems = list(differences(path, expected, json.loads(done.stdout)))
    assert not problems, "\n".join([sentence, *problems])
    return sentence


def differences(path: Path, expected: dict[str, str], report: dict):
    """Whatever is not as the program's first lines say."""
    if report["verdict"] not in WORDS[expected["truth"]]:
        yield f"verdict {report['verdict']}, expected {expected['truth']}"
    growth = report["growth"] or {}
    if expected["truth"] != "grows" or not growth.get("loop"):
        if bool(growth.get("loop")) != (expected["truth"] == "grows"):
            yield f"growth {growth}, expected {expected['truth']}"
        return
    for key, lines in (("loop", expected["loop"]), ("location", expected["allocates"])):
        found = place(path, growth[key] or {})
        if found not in re.split(r",\s*", lines):
            yield f"{key} {found}, expected {lines}"
    kept, stated = growth["bytes_per_iteration"], float(expected["keeps_mib"]) * MIB
    if abs(kept - stated) > stated / 100:
        yield f"{kept / MIB:.2f} MiB of each pass, expected {expected['keeps_mib']}"
    first, last = (int(number) for number in expected["full_at"].split(".."))
    if not first <= growth["full_at"] <= last:
        yield f"full at {growth['full_at']}, expected {expected['full_at']}"


def place(path: Path, location: dict) -> str:
    """`31`, or `store.py:13` for another file."""
    file, line = Path(location.get("file", "")), location.get("line")
    return str(line) if file.resolve() == path.resolve() else f"{file.name}:{line}"


if __name__ == "__main__":
    sys.exit(main())
