"""Tests the whole as a user runs it: the binary, real PyTorch, real scripts.

    python tests/system/run.py --oomph target/release/oomph [WORD ...]

A file per theme holds a table of cases. The Python that runs this file is the Python under test.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import agent_mode
import bad_input
import bad_places
import bad_programs
import exact
import explain
import explain_output
import faults
import fit
import fit_mistakes
import forecasts
import json_documents
import kept
import known
import large
import later
import leftovers
import launchers
import leak
import lint
import lint_fixes
import lint_proof
import needs
import others
import processes
import ranks
import resource_requests
import shared
import signals
import slurm
import so_far
import stopped
import streams
import suite
import surroundings
import sweep
import tune
import verdicts
from harness import Case, Workshop

THEMES = {"agent_mode": agent_mode, "exact": exact, "verdicts": verdicts, "leak": leak, "bad_input": bad_input, "bad_places": bad_places, "bad_programs": bad_programs, "launchers": launchers, "ranks": ranks, "resource_requests": resource_requests, "large": large, "explain": explain, "explain_output": explain_output, "faults": faults, "json_documents": json_documents, "tune": tune, "fit": fit, "fit_mistakes": fit_mistakes, "forecasts": forecasts, "kept": kept, "lint": lint, "lint_fixes": lint_fixes, "lint_proof": lint_proof, "needs": needs, "later": later, "leftovers": leftovers, "streams": streams, "known": known, "processes": processes, "shared": shared, "slurm": slurm, "so_far": so_far, "stopped": stopped, "others": others, "signals": signals, "surroundings": surroundings, "sweep": sweep}


SHARE = 0.15


def main() -> int:
    """Exit status 1 if a case fails."""
    arguments = suite.parser(__doc__).parse_args()
    # Not resolved: a virtual environment's Python is a link, and known by its own path.
    workshop = Workshop(arguments.oomph.absolute(), Path(sys.executable).absolute())
    try:
        return suite.run("system", _cases(workshop), arguments)
    finally:
        workshop.close()


def _cases(workshop: Workshop) -> list[suite.Case]:
    named = [(theme, case) for theme, module in THEMES.items() for case in module.CASES]
    return [_name(theme, case, partial(_run, workshop, f"{number:03}", case)) for number, (theme, case) in enumerate(named, 1)]


def _name(theme: str, case: Case, body: Callable[[], None]) -> suite.Case:
    name, group = f"{theme}: {case.name}", "" if case.is_extra else theme
    return suite.Case(name, body, case.memory, case.alone, is_long=case.is_long, is_extra=case.is_extra, group=group, share=SHARE)


def _run(workshop: Workshop, number: str, case: Case) -> None:
    box = workshop.box(number)
    case.body(box)
    box.assert_clean()


if __name__ == "__main__":
    sys.exit(main())
