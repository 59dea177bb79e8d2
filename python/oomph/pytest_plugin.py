"""The pytest plugin: tests with `@pytest.mark.gpu_memory` run on a phantom GPU, and fail above their limit.

A marked test runs in a process of its own under `oomph check` (`pytest_child.py`), with its fixtures. The reports of that process
become the reports of the test here, and the peak of its memory is held against the limit.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .checking import Check, run_check
from .command import OomphError
from .obstacles import find_obstacle
from .pytest_marker import MARKER, Limit, read_marker

__all__ = ["pytest_addoption", "pytest_configure", "pytest_runtest_protocol", "pytest_terminal_summary"]

_CHILD = Path(__file__).with_name("pytest_child.py")
_PROPERTY = "gpu_memory_peak_{}_bytes"
# pytest's report of a test that passes against its marker `xfail(strict=True)`.
_STRICT = "[XPASS(strict)]"
# The lines of oomph's report that a failure shows.
_SHOWN = 12
# Options of pytest that choose, repeat, distribute or report tests: those of the parent alone.
_PARENTS = frozenset(
    """file_or_dir plugins inifilename rootdir confcutdir override_ini pythonwarnings importmode capture keyword markexpr deselect lf failedfirst
    newfirst stepwise stepwise_skip stepwise_reset cacheclear cacheshow collectonly maxfail usepdb usepdb_cls trace xmlpath junitprefix pastebin
    numprocesses maxprocesses dist tx px distload looponfail testrunuid rsyncdir color reportchars basetemp debug help version
    markers show_fixtures showfixtures oomph_report""".split()
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option and the setting."""
    group = parser.getgroup("oomph")
    group.addoption(
        "--gpu-memory-report", action="store_true", dest="oomph_report", help="show the peak of GPU memory of each test with the marker gpu_memory"
    )
    parser.addini("oomph_gpu", "the GPU of tests with the marker gpu_memory, such as l4 [default: this machine's, else an RTX 4090]", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(limit=None, gpu=None, of='reserved', timeout=None): run the test on a phantom GPU, and fail above this peak of GPU memory",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Runs a marked test in a process of its own; other tests run as ever, and all tests of a dry run, such as that process."""
    if item.get_closest_marker(MARKER) is None or os.environ.get("OOMPH_RUN_DIR"):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _run(item):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    # As after any test, fixtures end here unless a later test uses them.
    item.session._setupstate.teardown_exact(nextitem)
    return True


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Shows the peaks."""
    if not terminalreporter.config.getoption("oomph_report"):
        return
    rows = [row for reports in terminalreporter.stats.values() for report in reports for row in _list_rows(report)]
    terminalreporter.section("GPU memory (oomph)")
    for row in sorted(set(rows)):
        terminalreporter.write_line(row)
    if not rows:
        terminalreporter.write_line(f"no test with the marker {MARKER} ran")


def _list_rows(report: Any) -> Iterator[str]:
    properties = dict(getattr(report, "user_properties", ()))
    reserved, allocated = (properties.get(_PROPERTY.format(of)) for of in ("reserved", "allocated"))
    if reserved is not None and allocated is not None and report.when == "call":
        from .watching import write_size

        limit = f" of {properties['gpu_memory_limit']}" if "gpu_memory_limit" in properties else ""
        yield f"{report.nodeid}: {write_size(reserved)} reserved, {write_size(allocated)} allocated{limit} on {properties['gpu_memory_gpu']}"


@dataclass
class _Outcome:
    """The result of the test's process."""

    reports: list[pytest.TestReport]
    uses_gpu: bool
    check: Check | None
    error: OomphError | None


def _run(item: pytest.Item) -> list[pytest.TestReport]:
    """The reports of a marked test."""
    started = time.time()
    reason = find_obstacle()
    if reason is not None:
        path, line, _ = item.location
        return _make(item, "skipped", (path, (line or 0) + 1, f"Skipped: {reason}"), started)
    try:
        limit = read_marker(item)
    except ValueError as error:
        return _make(item, "failed", f"{MARKER}: {error}", started)
    outcome = _run_child(item, limit)
    if not outcome.reports:
        return _make(item, "failed", _describe_end(outcome), started)
    if all(it.when != "teardown" for it in outcome.reports):
        # The process ended in the middle of the test.
        return [*outcome.reports, _make_report(item, "call", "failed", _describe_end(outcome), started)]
    _judge(item, limit, outcome)
    return outcome.reports


def _run_child(item: pytest.Item, limit: Limit) -> _Outcome:
    """Runs the test under `oomph check`; the process writes reports to an open file, since new files vanish after the run."""
    with tempfile.TemporaryDirectory(prefix="oomph-test-") as folder:
        results = Path(folder) / "results.jsonl"
        with results.open("a") as opened:
            job = Path(folder) / "job.json"
            job.write_text(json.dumps(_describe_job(item, opened.fileno())), encoding="utf-8")
            words = [*limit.options, "--steps=0", f"--python={sys.executable}", str(_CHILD), str(job)]
            environment = {name: value for name, value in os.environ.items() if name not in ("PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST")}
            environment["OOMPH_RESULTS"] = str(opened.fileno())
            check, error = None, None
            try:
                check = run_check(words, env=environment, pass_fds=[opened.fileno()])
            except OomphError as problem:
                error = problem
        rows = _read_first_run(results.read_text(encoding="utf-8"))
    reports = [_to_report(item, row) for row in rows if "$report_type" in row]
    return _Outcome(reports, any(row.get("uses_gpu") for row in rows), check, error)


def _read_first_run(text: str) -> list[dict[str, Any]]:
    """The rows of the first run, on the named GPU: `oomph check` may run a program again."""
    rows: list[dict[str, Any]] = []
    for line in text.splitlines():
        row = json.loads(line)
        if row.get("started") and rows:
            break
        rows.append(row)
    return rows


def _to_report(item: pytest.Item, row: dict[str, Any]) -> pytest.TestReport:
    # JSON has no tuples, which pytest's own plugins expect.
    row |= {name: tuple(row[name]) for name in ("longrepr", "location") if isinstance(row[name], list)}
    row |= {name: [tuple(pair) for pair in row[name]] for name in ("sections", "user_properties")}
    report: pytest.TestReport = item.config.hook.pytest_report_from_serializable(config=item.config, data=row)
    if item.config.getoption("capture") == "no":
        for name, content in report.sections:
            if name.startswith("Captured std"):
                sys.stdout.write(content)
    return report


def _describe_job(item: pytest.Item, results: int) -> dict[str, Any]:
    """The contents of the job file."""
    config, options = item.config, vars(item.config.option)
    return {
        "results": results,
        "nodeid": item.nodeid,
        "args": [*_list_words(config), str(item.path)],
        "options": {name: value for name, value in options.items() if name not in _PARENTS and not name.startswith("cov") and _is_plain(value)},
        "path": sys.path,
        "cwd": os.getcwd(),
    }


def _list_words(config: pytest.Config) -> Iterator[str]:
    """The words of the child's command line: options that pytest reads before its plugins."""
    yield from ("-o", "addopts=", "--capture=fd", f"--rootdir={config.rootpath}")
    if config.inipath is not None:
        yield f"-c{config.inipath}"
    known = config.known_args_namespace
    for name in dict.fromkeys([*(getattr(known, "plugins", None) or []), config.pluginmanager.get_name(sys.modules[__name__]) or __name__]):
        yield f"-p{name}"
    for flag, name in (("-o", "override_ini"), ("-W", "pythonwarnings")):
        for value in getattr(known, name, None) or []:
            yield from (flag, value)
    if getattr(known, "confcutdir", None):
        yield f"--confcutdir={known.confcutdir}"
    if getattr(known, "importmode", None):
        yield f"--import-mode={known.importmode}"


def _is_plain(value: object) -> bool:
    """True if JSON keeps the value."""
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False


def _judge(item: pytest.Item, limit: Limit, outcome: _Outcome) -> None:
    """Adds the peak to the reports; a test above its limit becomes a failure."""
    check, report = outcome.check, _find_verdict(outcome.reports)
    if check is None:
        _judge_without_figures(item, report, outcome)
        return
    others = [("gpu_memory_gpu", check.gpu), *([("gpu_memory_limit", limit.text)] if limit.text else [])]
    _note(item, outcome.reports, check.peak_reserved_bytes, check.peak_allocated_bytes, others)
    problem = limit.find_problem(check)
    ran_out = check.fits is False and "OutOfMemoryError" in report.longreprtext
    if problem is not None and (not report.failed or ran_out or _is_unexpected_pass(report)):
        _fail(report, "\n".join([problem, *_head(check)]))


def _note(item: pytest.Item, reports: list[pytest.TestReport], reserved: int, allocated: int, others: list[tuple[str, str]]) -> None:
    """Adds the peaks to the properties of a test, as `record_property` does."""
    peaks = [(_PROPERTY.format("reserved"), reserved), (_PROPERTY.format("allocated"), allocated)]
    for properties in (item.user_properties, *(it.user_properties for it in reports)):
        properties.extend([*peaks, *others])


def _find_verdict(reports: list[pytest.TestReport]) -> pytest.TestReport:
    """The report of the call, or of a setup without a call."""
    return next((it for it in reports if it.when == "call"), reports[0])


def _judge_without_figures(item: pytest.Item, report: pytest.TestReport, outcome: _Outcome) -> None:
    """Without a GPU in use the peak is 0 bytes; any other error of oomph's is a failure."""
    if not report.passed or outcome.error is None:
        return
    if outcome.uses_gpu:
        _fail(report, f"{MARKER}: the test passed, and oomph cannot say what it took: {outcome.error}")
        return
    _note(item, outcome.reports, 0, 0, [("gpu_memory_gpu", "no GPU: the test used none")])


def _fail(report: pytest.TestReport, text: str) -> None:
    """Makes a failure of a report, an expected failure with the marker `xfail`."""
    if hasattr(report, "wasxfail") or _is_unexpected_pass(report):
        report.wasxfail = getattr(report, "wasxfail", report.longreprtext.removeprefix(_STRICT).strip())
        report.outcome = "skipped"
    else:
        report.outcome = "failed"
    report.longrepr = text


def _is_unexpected_pass(report: pytest.TestReport) -> bool:
    """True for a test that passed against its marker."""
    return report.failed and report.longreprtext.startswith(_STRICT)


def _head(check: Check) -> list[str]:
    """The first lines of oomph's report. The sentence of a test that does not fit has been said."""
    lines = check.text.rstrip().splitlines()
    shown = lines[lines.index("") if check.fits is False and "" in lines else 0 : _SHOWN]
    return [*([] if check.fits is False else [""]), *shown, *(["  ..."] if len(lines) > _SHOWN else [])]


def _describe_end(outcome: _Outcome) -> str:
    """The text for a process that ended before its test."""
    if outcome.error is None:
        return f"{MARKER}: the test's process ended before the test did"
    where = "the test's process ended before the test did: " if outcome.reports else ""
    return f"{MARKER}: {where}{outcome.error}" + (f"\n\n{outcome.error.output}" if outcome.error.output else "")


def _make(item: pytest.Item, outcome: str, longrepr: Any, started: float) -> list[pytest.TestReport]:
    """The reports of a test without a process."""
    return [_make_report(item, "setup", outcome, longrepr, started), _make_report(item, "teardown", "passed", None, time.time())]


def _make_report(item: pytest.Item, when: str, outcome: str, longrepr: Any, started: float) -> pytest.TestReport:
    now = time.time()
    words: Any = {"when": when, "outcome": outcome, "longrepr": longrepr}
    keywords: Any = dict.fromkeys(item.keywords, 1)
    return pytest.TestReport(item.nodeid, item.location, keywords, sections=[], duration=now - started, start=started, stop=now, **words)
