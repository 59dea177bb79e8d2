"""Programs whose verdict is known by arithmetic: the word, the need, and what the first sentence must say.

    python tests/fits/check.py --oomph target/release/oomph [--half work|blind] [WORD ...]

The first lines of every program say what is expected; README.md says what they mean. The last lines of the output are a table for
each half: how many verdicts of each kind are right, how many are a false "fits", and how many programs that fit were refused.
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
# The word of a verdict by the one in `check --json`. `incomplete` is none of the three.
WORDS = {"fits": "fits", "fits_so_far": "fits so far", "oom": "does not fit", "incomplete": "incomplete"}
STATUS = {"fits": 0, "fits so far": 0, "does not fit": 1, "incomplete": 2}
GIB = 1 << 30


def main() -> int:
    """Exit status 1 if a program is not judged as its first lines say."""
    parser = suite.parser(__doc__)
    parser.add_argument("--half", choices=HALVES, help="only this half [default: both]")
    arguments = parser.parse_args()
    oomph = arguments.oomph.absolute()
    with tempfile.TemporaryDirectory(prefix="oomph-fits-") as folder:
        kept = Path(folder)
        programs = [path for half in HALVES for path in sorted(HERE.glob(f"{half}/*.py")) if arguments.half in (None, half)]
        cases = [suite.Case(f"{path.parent.name}/{path.stem}", partial(judge, oomph, path, kept)) for path in programs]
        status = suite.run("fits", cases, arguments)
        print_table([json.loads(path.read_text(encoding="utf-8")) for path in sorted(kept.glob("*.json"))])
    return status


def judge(oomph: Path, path: Path, kept: Path) -> str:
    """Checks the program, keeps the score for the table, and compares; returns the first sentence."""
    expected = suite.read_expectations(path)
    report, status, sentence = ask(oomph, path, expected)
    word = WORDS.get(report.get("verdict"), "no answer")
    problems = list(differences(expected, report, word, status, sentence, path.name))
    score = {
        "half": path.parent.name,
        "kind": int(expected["kind"]),
        "right": not problems,
        "false": expected["truth"] != "fits" and word == "fits",
        "refused": expected["truth"] == "fits" and word not in ("fits", "fits so far", *allowed(expected)),
    }
    kept.joinpath(f"{path.parent.name}-{path.stem}.json").write_text(json.dumps(score), encoding="utf-8")
    assert not problems, "\n".join([sentence, *problems])
    return sentence


def ask(oomph: Path, path: Path, expected: dict[str, str]) -> tuple[dict, int, str]:
    """The JSON report, its exit status, and the first sentence, which the page has as its heading."""
    options = ["--gpu", "rtx-4090", "--vram", expected["vram"], "--gpus", expected.get("gpus", "1")]
    if "launch" in expected:
        program = ["--", sys.executable, *expected["launch"].split(), path]
    else:
        program = ["--python", sys.executable, path]
    program += expected.get("args", "").split()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        command = [oomph, "check", "--json", "--html", page, *options, *program]
        try:
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return {}, -1, f"no answer in {PATIENCE} s"
        heading = re.search(r"<h1>(.*?)</h1>", page.read_text(encoding="utf-8"), re.DOTALL) if page.exists() else None
    sentence = html.unescape(re.sub(r"<[^>]*>", "", heading[1])) if heading else (done.stderr.splitlines() or [""])[-1]
    return json.loads(done.stdout or "{}"), done.returncode, sentence


def allowed(expected: dict[str, str]) -> list[str]:
    """The words that the report may use."""
    return expected["verdict"].split(" or ")


def differences(expected: dict, report: dict, word: str, status: int, sentence: str, name: str):
    """Whatever is not as the program's first lines say."""
    if word not in allowed(expected):
        yield f"{word}, expected {expected['verdict']}"
        return
    if status != STATUS[word]:
        yield f"exit status {status} with `{word}`"
    low, high = bounds(expected.get("peak_gib", "0..inf"))
    need = (report.get("need") or {}).get("device_bytes", 0) / GIB
    is_whole = word == expected["truth"] and not (report.get("need") or {}).get("at_least")
    is_conditional = word == "does not fit" and expected["truth"] == "fits"
    if not is_conditional and (need > high or (need < low and is_whole)):
        yield f"needs {need:.2f} GiB, expected {expected['peak_gib']}"
    full_at = (report.get("growth") or {}).get("full_at")
    if word == "does not fit" and "full_at" in expected and not (full_at is None and report.get("oom")):
        low, high = bounds(expected["full_at"])
        if full_at is None or not low <= full_at <= high:
            yield f"full at {full_at}, expected {expected['full_at']}"
    if word != "fits" and "line" in expected:
        found = (((report.get("oom") or {}).get("location")) or {}).get("line")
        lines = expected["line"].split(" or ")
        if str(found) not in lines and not any(f"{name}:{line}" in sentence for line in lines):
            yield f"line {found}, expected {expected['line']}"
    wanted = [*words(expected, "says"), *(words(expected, "says_so_far") if word == "fits so far" else [])]
    for phrase in wanted:
        if phrase.lower() not in sentence.lower():
            yield f"the first sentence lacks `{phrase}`"
    for phrase in words(expected, "not_says"):
        if phrase.lower() in sentence.lower():
            yield f"the first sentence has `{phrase}`"


def bounds(text: str) -> tuple[float, float]:
    """The two numbers of `low..high`."""
    low, high = text.split("..")
    return float(low), float(high)


def words(expected: dict[str, str], key: str) -> list[str]:
    """The phrases of a line, which commas separate."""
    return [word.strip() for word in expected.get(key, "").split(",") if word.strip()]


def print_table(scores: list[dict]) -> None:
    """Prints the counts of each half by kind."""
    for half in dict.fromkeys(score["half"] for score in scores):
        some = [score for score in scores if score["half"] == half]
        print(f"\n{half:8}{'kind':>6}{'programs':>10}{'right':>8}{'false fits':>12}{'refused':>9}")
        for kind in [*sorted({score["kind"] for score in some}), None]:
            row = [score for score in some if kind in (None, score["kind"])]
            counts = [sum(score[key] for score in row) for key in ("right", "false", "refused")]
            print(f"{'':8}{kind or 'all':>6}{len(row):10}{counts[0]:8}{counts[1]:12}{counts[2]:9}")


if __name__ == "__main__":
    sys.exit(main())
