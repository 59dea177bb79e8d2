"""Tests the whole as a user runs it: the binary, real PyTorch, real scripts.

One file per theme holds a table of cases. Prints a line per case and exits with 1 if one failed.
"""

import argparse
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True

import bad_input
import exact
import explain
import faults
import fit
import kept
import large
import launchers
import leak
import lint
import ranks
import tune
import verdicts
from harness import Case, Skip, Workshop

THEMES = {"exact": exact, "verdicts": verdicts, "leak": leak, "bad_input": bad_input, "launchers": launchers, "ranks": ranks, "large": large, "explain": explain, "faults": faults, "tune": tune, "fit": fit, "kept": kept, "lint": lint}
WORKERS = 2


def main() -> int:
    """Runs the cases whose names hold one of the given words; all where none is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oomph", type=Path, required=True, help="the binary")
    parser.add_argument("--python", type=Path, required=True, help="a Python with the supported PyTorch")
    parser.add_argument("words", nargs="*", metavar="WORD", help="run only the cases whose names hold one of these")
    arguments = parser.parse_args()
    # Not resolved: a virtual environment's Python is a link, and known by its own path.
    workshop = Workshop(arguments.oomph.absolute(), arguments.python.absolute())
    try:
        outcomes = _run(workshop, _chosen(arguments.words))
    finally:
        workshop.close()
    failed = outcomes.count("FAILED")
    print(f"{outcomes.count('ok')} passed, {failed} failed" + _skipped(outcomes))
    return 1 if failed or not outcomes else 0


def _chosen(words: list[str]) -> list[Case]:
    cases = [
        Case(f"{theme}: {case.name}", case.body, case.alone) for theme, module in THEMES.items() for case in module.CASES
    ]
    return [case for case in cases if not words or any(word in case.name for word in words)]


def _run(workshop: Workshop, cases: list[Case]) -> list[str]:
    together = [case for case in cases if not case.alone]
    with ThreadPoolExecutor(WORKERS) as pool:
        outcomes = list(pool.map(lambda case: _run_one(workshop, case), together))
    return outcomes + [_run_one(workshop, case) for case in cases if case.alone]


def _run_one(workshop: Workshop, case: Case) -> str:
    started = time.perf_counter()
    outcome, detail = "ok", ""
    box = workshop.box()
    try:
        case.body(box)
        box.assert_clean()
    except Skip as reason:
        outcome, detail = "skipped", f" ({reason})"
    except AssertionError as failure:
        outcome, detail = "FAILED", f"\n{failure}\n"
    except Exception:
        outcome, detail = "FAILED", f"\n{traceback.format_exc()}"
    print(f"{outcome:8} {time.perf_counter() - started:6.1f} s  {case.name}{detail}", flush=True)
    return outcome


def _skipped(outcomes: list[str]) -> str:
    count = outcomes.count("skipped")
    return f", {count} skipped" if count else ""


if __name__ == "__main__":
    sys.exit(main())
