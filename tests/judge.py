"""Runs `oomph check` on a program with a known answer (expect.py), and compares the report with the answer.

`COMPARISONS` has a function for each key; each yields its problems. A suite chooses its programs, and adds what its programs alone have.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import expect
import suite

HALVES = "work", "blind"
PATIENCE = 900
MIB, GIB = 1 << 20, 1 << 30
# The word of a verdict by the one in `check --json`.
WORDS = {"fits": "fits", "fits_so_far": "fits so far", "oom": "does not fit", "incomplete": "incomplete"}
STATUS = {"fits": 0, "fits so far": 0, "does not fit": 1, "incomplete": 2}


@dataclass(frozen=True)
class Seen:
    """The answer of `oomph check` on a program."""

    path: Path
    expected: dict
    # The JSON report; empty without an answer.
    report: dict
    status: int
    # The first sentence; without a report, the error.
    sentence: str

    @property
    def word(self) -> str:
        """The verdict."""
        return WORDS.get(self.report.get("verdict"), "no answer")

    @property
    def growth(self) -> dict:
        """The growth from pass to pass; empty without any."""
        return self.report.get("growth") or {}

    @property
    def oom(self) -> dict:
        """The refused request; empty without any."""
        return self.report.get("oom") or {}

    @property
    def first(self) -> dict:
        """The first finding."""
        return (self.report.get("findings") or [{"rule": "nothing"}])[0]

    def place(self, location: dict | None) -> int | str | None:
        """A line as blocks write it: `31`, or `store.py:13` for another file."""
        if not location:
            return None
        file, line = Path(location["file"]), location["line"]
        return line if file.resolve() == self.path.resolve() else f"{file.name}:{line}"

    def named_lines(self, text: str) -> set[int]:
        """The lines of the program that a text names."""
        return set(map(int, re.findall(rf"{re.escape(self.path.name)}:(\d+)", text)))


def cases(folder: Path, body: Callable[[Path], str], group: Callable[[dict], str], half: str | None = None) -> list[suite.Case]:
    """A case for each program of both halves, or of one, or of another folder."""
    programs = [path for name in ((half,) if half else HALVES) for path in sorted(folder.glob(f"{name}/*.py"))]
    return [case(path, partial(body, path), group(expect.read(path))) for path in programs]


def case(path: Path, body: Callable[[], str | None], group: str, **options) -> suite.Case:
    """The case of a program."""
    return suite.Case(f"{path.parent.name}/{path.stem}", body, group=group, open=expect.read(path).get("open", ""), **options)


def judge(oomph: Path, path: Path) -> str:
    """Compares the report on a program with its block; returns the first sentence."""
    return conclude(ask(oomph, path))


def conclude(seen: Seen, more: Iterable[str] = ()) -> str:
    """Fails with the problems, and with `more`, or returns the first sentence."""
    found = [*problems(seen), *more]
    findings = [f"{finding['severity']} {finding['rule']}: {finding['message']}" for finding in seen.report.get("findings", [])]
    assert not found, "\n".join([seen.sentence, *found, *findings, *seen.report.get("notes", [])])
    return seen.sentence


def ask(oomph: Path, path: Path, *more: str) -> Seen:
    """The answer of `oomph check` on a program, with more options."""
    expected = expect.read(path)
    options = ["--gpu", "rtx-4090", "--vram", expected["vram"], "--gpus", expected.get("gpus", 1), *more]
    program = ["--", sys.executable, *expected["launch"].split(), path] if "launch" in expected else ["--python", sys.executable, path]
    program += expected.get("args", "").split()
    command = [oomph, "check", "--json", *options, *program]
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return Seen(path, expected, {}, -1, f"no answer in {PATIENCE} s")
    document = json.loads(done.stdout or "{}")
    if "headline" in document:
        return Seen(path, expected, document, done.returncode, document["headline"])
    error = document.get("error") or {"message": f"no answer, exit status {done.returncode}: {done.stderr[-1000:]}"}
    return Seen(path, expected, {}, done.returncode, error["message"])


def problems(seen: Seen) -> Iterator[str]:
    """Every difference from the block; after a wrong verdict no other is of interest."""
    wrong = list(compare_verdict(seen.expected["verdict"], seen))
    yield from wrong
    if seen.word in seen.expected["verdict"]:
        for key, compare in COMPARISONS.items():
            if key in seen.expected:
                yield from compare(seen.expected[key], seen)


def compare_verdict(words: list[str], seen: Seen) -> Iterator[str]:
    """The word, and the exit status with it."""
    if seen.word not in words:
        yield f"{seen.word}, expected {' or '.join(words)} ({seen.report.get('reason')})"
    elif seen.status != STATUS[seen.word]:
        yield f"exit status {seen.status} with `{seen.word}`"


def compare_need(bounds: list[float], seen: Seen) -> Iterator[str]:
    """A report on a part, and a bound, may state less. The need of a program that would fit otherwise is another one."""
    low, high = bounds
    stated, truth = seen.report.get("need") or {}, seen.expected["truth"]
    need = stated.get("device_bytes", 0) / GIB
    is_whole = seen.word == truth and not stated.get("at_least")
    is_conditional = seen.word == "does not fit" and truth == "fits"
    if not is_conditional and (need > high or (need < low and is_whole)):
        yield f"needs {need:.2f} GiB, expected {bounds}"


def compare_full_at(bounds: list[float], seen: Seen) -> Iterator[str]:
    """The report may name a refused request instead, but not for a loop that it has to name."""
    found = seen.growth.get("full_at")
    is_refused = found is None and seen.oom and "grows" not in seen.expected
    if seen.word == "does not fit" and not is_refused and (found is None or not bounds[0] <= found <= bounds[1]):
        yield f"full at {found}, expected {bounds}"


def compare_grows(grows: bool, seen: Seen) -> Iterator[str]:
    """A loop is named if its passes fill the device, and else none."""
    if bool(seen.growth.get("loop")) != grows:
        yield f"growth {seen.growth}, expected {grows}"


def compare_place(key: str, lines: list, seen: Seen) -> Iterator[str]:
    """A line of the growth."""
    found = seen.place(seen.growth.get(key))
    if found not in lines:
        yield f"{key} {found}, expected {lines}"


def compare_kept(mib: float, seen: Seen) -> Iterator[str]:
    """The memory that a pass leaves, to one percent."""
    kept = seen.growth.get("bytes_per_iteration", 0) / MIB
    if abs(kept - mib) > mib / 100:
        yield f"{kept:.2f} MiB of each pass, expected {mib}"


def compare_lines(lines: list, seen: Seen) -> Iterator[str]:
    """The refused request, the first sentence or, in a program with a cause, the first finding names a line."""
    if seen.word == "fits":
        return
    named = {seen.place(seen.oom.get("location"))} | seen.named_lines(seen.sentence)
    if "first_finding" in seen.expected:
        named |= {seen.place(seen.first.get("location"))} | seen.named_lines(seen.first.get("message", ""))
    if not named & set(lines):
        yield f"names {sorted(named - {None}, key=str)}, expected one of {lines}"


def compare_line(line: int, seen: Seen) -> Iterator[str]:
    """The line of the refused request."""
    found = (seen.oom.get("location") or {}).get("line")
    if seen.word == "does not fit" and found != line:
        yield f"line {found} of the request, expected {line}"


def compare_request(size: int, seen: Seen) -> Iterator[str]:
    """The size of the refused request, if it is stated."""
    found = seen.oom.get("requested_bytes")
    if seen.word == "does not fit" and found not in (None, size):
        yield f"requested_bytes {found}, expected {size}"


def compare_caught_line(line: int, seen: Seen) -> Iterator[str]:
    """The line that takes the error. In a library, no line of the program does."""
    taken = (seen.report.get("search") or {}).get("caught_at") or (seen.oom.get("caught") or {}).get("location") or {}
    found = taken.get("line") if str(taken.get("file", "")).endswith(seen.path.name) else None
    if (found is not None or not taken) and found != line:
        yield f"caught_line {found}, expected {line}"


def compare_search(is_search: bool, seen: Seen) -> Iterator[str]:
    """A fit is that of a search, or not."""
    if (seen.report["search"] is not None) != is_search:
        yield f"search {seen.report['search']}, expected {is_search}"


def compare_then(then: str, seen: Seen) -> Iterator[str]:
    """The status of a program that ends with the caught error."""
    ended, caught = re.fullmatch(r"ended with status (\d+)", then), seen.oom.get("caught") or {}
    if ended and caught.get("then") == "ended" and caught.get("status") != int(ended[1]):
        yield f"{caught}, expected {then}"


def compare_first_finding(rules: list[str], seen: Seen) -> Iterator[str]:
    """The rule of the first finding."""
    if seen.first["rule"] not in rules:
        yield f"first finding {seen.first['rule']}, expected {' or '.join(rules)}"


def compare_no_finding(rules: list[str], seen: Seen) -> Iterator[str]:
    """Silence about a cause that the program does not have."""
    for finding in seen.report["findings"]:
        if finding["severity"] != "info" and finding["rule"] in rules:
            yield f"{finding['rule']} is said of a program that does not have it"


def compare_phrases(phrases: list[str], seen: Seen) -> Iterator[str]:
    """Phrases of the first sentence, in any case."""
    for phrase in phrases:
        if phrase.lower() not in seen.sentence.lower():
            yield f"the first sentence lacks `{phrase}`"


def compare_phrases_so_far(phrases: list[str], seen: Seen) -> Iterator[str]:
    """Phrases of a first sentence about a part of the program."""
    if seen.word == "fits so far":
        yield from compare_phrases(phrases, seen)


def compare_absent_phrases(phrases: list[str], seen: Seen) -> Iterator[str]:
    """Phrases that are not in the first sentence, in any case."""
    for phrase in phrases:
        if phrase.lower() in seen.sentence.lower():
            yield f"the first sentence has `{phrase}`"


# After the verdict, in this order.
COMPARISONS: dict[str, Callable[..., Iterator[str]]] = {
    "need_gib": compare_need,
    "grows": compare_grows,
    "loop": partial(compare_place, "loop"),
    "allocates": partial(compare_place, "location"),
    "keeps_mib": compare_kept,
    "full_at": compare_full_at,
    "lines": compare_lines,
    "line": compare_line,
    "requested_bytes": compare_request,
    "caught_line": compare_caught_line,
    "search": compare_search,
    "then": compare_then,
    "first_finding": compare_first_finding,
    "no_finding": compare_no_finding,
    "says": compare_phrases,
    "says_so_far": compare_phrases_so_far,
    "not_says": compare_absent_phrases,
}
