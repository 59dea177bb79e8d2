"""Explains the corpus of messages and compares figures, cause, advice and length with what was worked out by hand.

    python tests/messages/check.py --oomph PATH [WORD ...]

A half of the corpus is a folder of files with many texts, each below a header of `key: value` lines (README.md beside this file). The blind
half was written by somebody who had not seen the code, and was first run when the code was done.
"""

import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import documents
import suite

HALVES = ("work", "blind")
UNITS = {"bytes": 1, "byte": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
# A figure is read right if it is as near as two decimals of its unit.
TOLERANCE = 0.006
# A report of one message has at most so many lines.
LONGEST = 15
FIGURES = {
    "requested": "requested_bytes",
    "total": "total_bytes",
    "free": "free_bytes",
    "allocated": "allocated_bytes",
    "reserved": "reserved_bytes",
    "unallocated": "reserved_unallocated_bytes",
    "private_pools": "private_pools_bytes",
    "process": "process_bytes",
    "allowed": "allowed_bytes",
    "other_allocations": "other_allocations_bytes",
    "device": "device_index",
    "rank": "rank",
}
GROWTH = {"growing-collection", "retained-graph", "saved-intermediates"}
# The texts whose answer is wrong, with the reason. Everything else must be right.
KNOWN = HERE / "known.txt"


@dataclass
class Message:
    """A text, and the answer to it."""

    file: str
    name: str
    header: dict[str, str]
    text: str
    found: dict[str, str] = field(default_factory=dict)

    def key(self):
        """`work/pytorch one-huge-request-a100`."""
        return f"{self.file} {self.name}"


def main():
    """Exit status 1 if a text is answered wrongly and is not known to be."""
    parser = suite.parser(__doc__)
    arguments = parser.parse_args()
    files = sorted(HERE.glob("*/*.txt"))
    known = read_known()
    with tempfile.TemporaryDirectory(prefix="oomph-messages-") as folder:
        answer = partial(check_file, str(arguments.oomph.absolute()), Path(folder), known)
        cases = [suite.Case(f"{path.parent.name}/{path.stem}", partial(answer, path)) for path in files]
        return suite.run("messages", cases, arguments)


def read_known():
    """The names of the texts whose answer is known to be wrong."""
    lines = KNOWN.read_text(encoding="utf-8").splitlines() if KNOWN.exists() else []
    return {line.partition(":")[0].strip() for line in lines if line and not line.startswith("#")}


def check_file(oomph, folder, known, path):
    """Explains every text of a file; returns the counts."""
    messages = read_messages(path)
    for message in messages:
        explain(oomph, folder, message)
    wrong = [message for message in messages if message.found["problems"]]
    unknown = [message for message in wrong if message.key() not in known]
    assert not unknown, "\n".join(f"{message.key()}: {problem}" for message in unknown for problem in message.found["problems"])
    repaired = [message.key() for message in messages if message.key() in known and message not in wrong]
    assert not repaired, f"right, and in known.txt: {repaired}"
    return summary(messages)


def summary(messages):
    """`70 texts: figures 70, cause 69, advice 12 of 12; median 12 lines`."""
    counts = {what: sum(what not in message.found["kinds"] for message in messages) for what in ("figures", "cause", "speaker", "advice")}
    lines = statistics.median(message.found["lines"] for message in messages)
    words = ", ".join(f"{what} {count}" for what, count in counts.items())
    return f"{len(messages)} texts: {words}; median {lines:g} lines"


def read_messages(path):
    """The texts of a file."""
    messages = []
    for part in re.split(r"(?m)^=== ", path.read_text(encoding="utf-8"))[1:]:
        name, _, rest = part.partition("\n")
        head, _, text = rest.partition("\n\n")
        header = dict(line.split(": ", 1) if ": " in line else (line.rstrip(":"), "") for line in head.splitlines())
        unknown = set(header) - {"text", "speaker", "numbers", "cause", "why", "advice", "escapes"}
        assert not unknown, f"{path.name}: {name}: unknown keys {unknown}"
        text = text.rstrip("\n") + "\n"
        messages.append(Message(f"{path.parent.name}/{path.stem}", name.strip(), header, unescaped(text) if "escapes" in header else text))
    return messages


def unescaped(text):
    """The text with its escapes decoded."""
    escapes = {"\\t": "\t", "\\r": "\r", "\\n": "\n", "\\x1b": "\x1b", "\\\\": "\\"}
    return re.sub(r"\\(?:[trn\\]|x1b)", lambda match: escapes[match[0]], text)


def explain(oomph, folder, message):
    """Runs `explain` twice, as text and as JSON, and notes what differs from the header."""
    file = folder / f"{message.file.replace('/', '-')}-{message.name}.log"
    file.write_bytes(message.text.encode())
    shown = subprocess.run([oomph, "explain", str(file)], capture_output=True, text=True, timeout=60)
    found = subprocess.run([oomph, "explain", "--json", str(file)], capture_output=True, text=True, timeout=60)
    report = documents.parse(found.stdout) or None
    lines = len(shown.stdout.splitlines())
    differences = list(compare(message, report, shown))
    message.found = {
        "lines": lines,
        "kinds": {kind for kind, _ in differences},
        "problems": [f"{kind}: {words}" for kind, words in differences],
    }


def compare(message, report, shown):
    """Every difference between a report and the header: its kind, and words."""
    header = message.header
    if shown.returncode not in (0, 1, 2) or "panicked" in shown.stderr:
        yield "crash", shown.stderr[-400:]
    error = focus(report)
    if header["cause"] == "none":
        named = [finding["rule"] for finding in (report or {}).get("findings", ()) if finding["severity"] != "info"]
        if error or named:
            yield "cause", f"expected no error of memory, found {named or error['message'][:120]}"
        return
    yield from compare_figures(header, error or {})
    speaker = error["framework"] if error else None
    if header["speaker"].replace("-", "").replace(".", "") != speaker and header["speaker"] != "none":
        yield "speaker", f"expected {header['speaker']}, found {speaker}"
    first = next((finding["rule"] for finding in (report or {}).get("findings", ())), None)
    wanted = GROWTH if header["cause"] == "growth" else {header["cause"]}
    if first not in wanted:
        yield "cause", f"expected {header['cause']} ({header.get('why', '')}), found {first}"
    for words in filter(None, header.get("advice", "").split("|")):
        if words.strip().lower() not in " ".join(shown.stdout.split()).lower():
            yield "advice", f"expected the report to name {words.strip()}"
    if len(shown.stdout.splitlines()) > LONGEST:
        yield "length", f"expected {LONGEST} lines at most, found {len(shown.stdout.splitlines())}"


def focus(report):
    """The error that a report is about."""
    index = report.get("focus_oom") if report else None
    return report["ooms"][index] if index is not None else None


def compare_figures(header, error):
    """Every figure that differs."""
    numbers = header.get("numbers", "-").strip()
    for part in filter(None, ([] if numbers == "-" else numbers.split(", "))):
        key, _, value = part.partition("=")
        key = key.strip()
        if key == "others":
            others = [process["bytes"] for process in error.get("other_processes", ())]
            wanted = [amount(one) for one in value.split("+")]
            if len(others) != len(wanted) or not all(is_near(a, b) for a, b in zip(sorted(others), sorted(wanted), strict=True)):
                yield "figures", f"expected {part}, found {others}"
            continue
        found = error.get(FIGURES[key])
        if key in ("device", "rank"):
            if found != int(value):
                yield "figures", f"expected {part}, found {found}"
        elif found is None or not is_near(found, amount(value)):
            yield "figures", f"expected {part}, found {found}"


def amount(text):
    """`20.00 MiB` as bytes, and the half of its last digit."""
    number, unit = re.fullmatch(r"\s*(-?[\d.,]+)\s*([KMGT]iB|bytes?)\s*", text).groups()
    number = number.replace(",", "")
    return float(number) * UNITS[unit], UNITS[unit] * TOLERANCE * (1 if "." in number else 100)


def is_near(found, wanted):
    """True if the figure rounds to the expected one."""
    value, slack = wanted
    return found is not None and abs(found - value) <= max(slack, 1)


if __name__ == "__main__":
    sys.exit(main())
