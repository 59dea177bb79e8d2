"""Keeps the CPU time of each case (`times.json`), compares a run with the kept times, and writes the table of CONTRIBUTING.md.

    python3 tests/times.py              writes the table from the kept times
    python3 tests/times.py --check      exit status 1 if the table is stale
    python3 tests/run.py --keep-times   keeps the times of the last run, and writes the table

A slower machine takes longer in all suites. So a suite is compared with the median growth of all suites of the same run, by cases that
are in both: each week another tenth of the large suites runs (Note [A tenth] in `suite.py`). A longer suite is named, and fails nothing.
"""

import collections
import json
import statistics
import sys
from pathlib import Path

import suite

KEPT = suite.ROOT / "tests" / "times.json"
PAGE = suite.ROOT / "CONTRIBUTING.md"
REGION = "<!-- make generate: times -->\n", "<!-- end: times -->\n"
# A suite is named if it grew by more than this share beyond the median, and by more than these seconds.
SHARE, SECONDS = 0.2, 5.0
# Suites beside each other in the table.
COLUMNS = 3

# The seconds of CPU of each case, by suite.
Times = dict[str, dict[str, float]]


def read_kept(path: Path = KEPT) -> Times:
    """The kept times."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def collect(outcomes: list[suite.Outcome]) -> Times:
    """The times of the cases that passed."""
    found: Times = collections.defaultdict(dict)
    for outcome in outcomes:
        if outcome.word == "ok":
            found[outcome.suite][outcome.case] = round(outcome.cpu, 1)
    return dict(found)


def merge(kept: Times, new: Times) -> Times:
    """The new times, and the kept ones of cases that did not run."""
    return {name: kept.get(name, {}) | new.get(name, {}) for name in {**kept, **new}}


def write(times: Times, path: Path = KEPT) -> None:
    """Writes the times, sorted: a line a case."""
    path.write_text(json.dumps(times, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def keep(outcomes: list[suite.Outcome]) -> None:
    """Keeps the times of a run, and writes the table."""
    write(merge(read_kept(), collect(outcomes)))
    update_page(is_check=False)


def list_longer(kept: Times, new: Times) -> list[str]:
    """A sentence for each suite that takes longer than the median of all suites explains."""
    common = {name: new[name].keys() & kept.get(name, {}).keys() for name in new}
    sums = {name: (sum(kept[name][case] for case in cases), sum(new[name][case] for case in cases)) for name, cases in common.items() if cases}
    grown = [after / before for before, after in sums.values() if before > 0]
    median = statistics.median(grown) if grown else 1
    found = []
    for name, (before, after) in sorted(sums.items()):
        expected = before * median
        if after > expected * (1 + SHARE) and after - expected > SECONDS:
            count = len(common[name])
            found.append(f"takes longer: {name}, {after / count:.1f} s of CPU per case, kept {before / count:.1f} s (all suites: {median:.2f} times the kept)")
    return found


def make_table(times: Times) -> str:
    """The suites by their time: cases, seconds per case, seconds of all."""
    sums = {name: (len(cases), sum(cases.values())) for name, cases in times.items() if cases}
    cells = [f"{name} | {count} | {seconds / count:.1f} s | {seconds:,.0f} s" for name, (count, seconds) in sorted(sums.items(), key=lambda it: -it[1][1])]
    rows = -(-len(cells) // COLUMNS)
    cells += [" | | | "] * (rows * COLUMNS - len(cells))
    head = "|" + " suite | cases | CPU per case | CPU |" * COLUMNS + "\n" + "|" + "---|---|---|---|" * COLUMNS + "\n"
    return head + "".join(f"| {' | '.join(cells[row::rows])} |\n" for row in range(rows))


def update_page(is_check: bool) -> int:
    """Writes the table into the page; with `is_check` only compares, exit status 1 if the table is stale."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(REGION[0])
    _, after = rest.split(REGION[1])
    fresh = f"{before}{REGION[0]}{make_table(read_kept())}{REGION[1]}{after}"
    if is_check and fresh != text:
        print(f"{PAGE.name}: the table of times is stale; `make generate` writes it")
        return 1
    if fresh != text:
        PAGE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(update_page(is_check=sys.argv[1:] == ["--check"]))
