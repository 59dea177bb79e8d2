"""The rules that workflows and issue forms of `.github` keep, beside those of their languages.

`actionlint` and `check-jsonschema` hold the languages (docs/release.md); neither is needed here.
"""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
# A commit, with its version as a comment: a tag can be moved to other code.
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
# The one job that may write, and its permissions.
WRITERS = {("release.yml", "publish"): {"contents": "read", "id-token": "write", "attestations": "write"}}
FIELDS = {"markdown", "input", "textarea", "dropdown", "checkboxes"}


def list_workflows() -> list[Path]:
    """All workflows."""
    return sorted((GITHUB / "workflows").glob("*.yml"))


def read(path: Path) -> dict:
    """A file of YAML 1.1, in which `on` is a word for true."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def find_workflow_faults(path: Path) -> list[str]:
    """Actions that are not pinned, permissions beyond reading, and jobs without an end."""
    workflow, faults = read(path), []
    for line in path.read_text(encoding="utf-8").splitlines():
        if "uses:" in line and "uses: ./" not in line and not PINNED.search(line):
            faults.append(f"not pinned to a commit with its version: {line.strip()}")
    if workflow.get("permissions") != {"contents": "read"}:
        faults.append(f"permissions are {workflow.get('permissions')}, expected to read contents alone")
    for name, job in workflow["jobs"].items():
        faults += [f"job {name}: {fault}" for fault in find_job_faults(job, WRITERS.get((path.name, name)))]
    return faults


def find_job_faults(job: dict, allowed: dict | None):
    """Yields what is wrong with a job. A job that calls another workflow has no steps and no time."""
    if job.get("permissions") != allowed:
        yield f"permissions are {job.get('permissions')}, expected {allowed}"
    if "uses" not in job and "timeout-minutes" not in job:
        yield "no timeout-minutes"
    for step in job.get("steps", []):
        if "actions/checkout" in step.get("uses", "") and step.get("with", {}).get("persist-credentials") is not False:
            yield "a checkout that leaves the token behind"
        if "${{" in step.get("run", ""):
            yield f"a script with a pasted expression: {step['run']}"


def find_form_faults(path: Path) -> list[str]:
    """What GitHub would refuse: a field without a label, an id that is used twice, a form without a question."""
    form = read(path)
    faults = [f"no {key}" for key in ("name", "description", "body") if not form.get(key)]
    body = form.get("body", [])
    ids = [field["id"] for field in body if "id" in field]
    faults += [f"the id {it} is used twice" for it in sorted(set(ids)) if ids.count(it) > 1]
    for field in body:
        if field.get("type") not in FIELDS:
            faults.append(f"a field of type {field.get('type')}")
        elif field["type"] != "markdown" and not field.get("attributes", {}).get("label"):
            faults.append(f"a field without a label: {field}")
    if all(field.get("type") == "markdown" for field in body):
        faults.append("no question")
    return faults
