"""Programs that run out of memory for a known reason, and similar programs that fit: is the reason the first finding?

    python tests/blame/check.py --oomph target/release/oomph [--half work|blind] [WORD ...]

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
MIB = 1 << 20
VERDICTS = {"fits": ("fits", "fits_so_far"), "runs out": ("oom",)}
# The findings that say a cause.
RULES = {
    "weights": ("need-exceeds-device",),
    "activations": ("batch-too-large", "need-exceeds-device"),
    "optimizer": ("optimizer-state", "need-exceeds-device"),
    "attention": ("attention-matrix",),
    "pairwise": ("pairwise-by-broadcasting",),
    "one-hot": ("one-hot-of-vocabulary",),
    "logits": ("vocabulary-logits",),
    "graph-kept": ("retained-graph",),
    "tensors-kept": ("growing-collection", "saved-intermediates"),
    "intermediates-kept": ("saved-intermediates", "growing-collection", "retained-graph"),
    "cycle": ("reference-cycle",),
    "exception": ("exception-holds-frames",),
    "evaluation": ("grad-recorded-in-eval",),
    "stale-gradients": ("gradients-alive-in-forward",),
    "last-iteration": ("saved-intermediates",),
    "earlier-model": ("earlier-model-alive",),
    "loaded-twice": ("weights-loaded-twice",),
    "data-on-device": ("dataset-on-gpu",),
    "fragmentation": ("fragmentation",),
    "fraction": ("small-gpu-fraction",),
    "setting": ("allocator-setting-harmful",),
}


def main() -> int:
    """Exit status 1 if a report is not as the first lines of its program say."""
    parser = suite.parser(__doc__)
    parser.add_argument("--half", choices=HALVES, help="only this half [default: both]")
    arguments = parser.parse_args()
    oomph = arguments.oomph.absolute()
    programs = [path for half in HALVES for path in list_programs(HERE / half) if arguments.half in (None, half)]
    cases = [suite.Case(f"{path.parent.name}/{path.stem}", partial(judge, oomph, path)) for path in programs]
    return suite.run("blame", cases, arguments)


def list_programs(folder: Path) -> list[Path]:
    """The files with an expectation; other files are modules of a program."""
    return [path for path in sorted(folder.glob("*.py")) if "truth" in suite.read_expectations(path)]


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
    report = json.loads(done.stdout)
    problems = list(differences(path, expected, report, sentence))
    findings = [f"{found['severity']} {found['rule']}: {found['message']}" for found in report["findings"]]
    assert not problems, "\n".join([f"[{expected['cause']}] {sentence}", *problems, *findings])
    return sentence


def differences(path: Path, expected: dict[str, str], report: dict, sentence: str):
    """Whatever is not as the program's first lines say."""
    if report["verdict"] not in VERDICTS[expected["truth"]]:
        yield f"verdict {report['verdict']}, expected {expected['truth']}"
        return
    rules = RULES[expected["cause"]]
    if expected["truth"] == "fits":
        blamed = [found["rule"] for found in report["findings"] if found["severity"] != "info" and found["rule"] in rules]
        if blamed:
            yield f"{blamed[0]} is said of a program that does not have it"
        return
    first = report["findings"][0] if report["findings"] else {"rule": "nothing"}
    if first["rule"] not in rules:
        yield f"first finding {first['rule']}, expected {' or '.join(rules)}"
        return
    yield from different_line(path, expected, first, report, sentence)


def different_line(path: Path, expected: dict[str, str], first: dict, report: dict, sentence: str):
    """Compares the lines in the first sentence and in the first finding with the expected lines."""
    lines = re.split(r",\s*", f"{expected['lines']}, {expected['keeps']}")
    lines = [line for line in lines if line != "-"]
    if not lines:
        return
    places = [first.get("location"), (report["oom"] or {}).get("location")]
    named = {place(path, it) for it in places if it}
    named |= set(re.findall(rf"{re.escape(path.name)}:(\d+)", sentence + first["message"]))
    if not named & set(lines):
        yield f"names {sorted(named)}, expected {lines}"


def place(path: Path, location: dict) -> str:
    """`31`, or `store.py:13` for another file."""
    file, line = Path(location["file"]), location["line"]
    return str(line) if file.resolve() == path.resolve() else f"{file.name}:{line}"


if __name__ == "__main__":
    sys.exit(main())
