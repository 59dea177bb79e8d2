"""The steps of `action.yml`, as GitHub runs them: inputs by the environment, and real files for outputs, summary and PATH."""

import importlib.resources
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import jsonschema
import yaml
from mistake import CLEAN, MISTAKE
from packaged import build_wheel
from samples import equal, write

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
# docs.github.com, "Workflow syntax", `jobs.<job_id>.steps[*].shell`: the command line of `bash`.
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
# A text that would leave a mark, were it part of a script.
INJECTED = '"; touch pwned; $(touch pwned) `touch pwned` #'


def read_action() -> dict:
    """The action."""
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


@dataclass
class Job:
    """A job with one call of the action."""

    folder: Path
    inputs: dict[str, str]
    environment: dict[str, str]
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    log: str = ""
    status: int = 0

    @property
    def summary(self) -> str:
        """The job's summary."""
        return (self.folder / "summary").read_text(encoding="utf-8")

    def result(self, name: str) -> str:
        """An output of the action."""
        return self.expand(read_action()["outputs"][name]["value"])

    def expand(self, text: str) -> str:
        """Replaces expressions, as GitHub does before a step."""
        return EXPRESSION.sub(lambda found: self._value(found[1].split(".")), str(text))

    def _value(self, path: list[str]) -> str:
        match path:
            case ["inputs", name]:
                return self.inputs[name]
            case ["runner", "temp"]:
                return str(self.folder / "temp")
            case ["steps", step, "outputs", name]:
                return self.outputs.get(step, {}).get(name, "")
        raise AssertionError(f"an expression that the test does not know: {path}")

    def run(self) -> "Job":
        """Runs the steps until one fails. Steps with `uses` are those of others."""
        for step in read_action()["runs"]["steps"]:
            if "run" in step and self.status == 0:
                self._run_step(step)
        return self

    def _run_step(self, step: dict) -> None:
        assert step["shell"] == "bash" and "${{" not in step["run"], "a script with an expression can be injected into"
        script = write(self.folder, "step.sh", step["run"])
        files = {name: self.folder / name.removeprefix("GITHUB_").lower() for name in ("GITHUB_OUTPUT", "GITHUB_PATH")}
        files["GITHUB_STEP_SUMMARY"] = self.folder / "summary"
        for path in files.values():
            path.touch()
        files["GITHUB_OUTPUT"].write_text("")
        own = {name: self.expand(value) for name, value in step["env"].items()} | {name: str(path) for name, path in files.items()}
        path = [*reversed(files["GITHUB_PATH"].read_text().splitlines()), self.environment["PATH"]]
        variables = self.environment | own | {"PATH": os.pathsep.join(path)}
        place = self.folder / "work" / self.expand(step.get("working-directory", "."))
        done = subprocess.run([*SHELL, script], cwd=place, env=variables, capture_output=True, text=True, timeout=PATIENCE)
        self.status = done.returncode
        self.log += done.stdout + done.stderr
        if "id" in step:
            lines = files["GITHUB_OUTPUT"].read_text().splitlines()
            self.outputs[step["id"]] = dict(line.split("=", 1) for line in lines)


def case(body: Callable[[Callable[..., Job], Path], None]) -> Callable[[Path], None]:
    """A case that gets a function to run the action, and the folder of the job."""

    def run_case(oomph: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="oomph-action-") as name:
            folder = Path(name)
            for inner in ("work", "temp", "bin"):
                (folder / inner).mkdir()
            wheel = build_wheel(oomph, folder)
            defaults = {name: it["default"] for name, it in read_action()["inputs"].items()}

            def run_action(**inputs: str) -> Job:
                named = {name.replace("_", "-"): value for name, value in inputs.items()}
                usual = defaults | {"wheel": str(wheel), "python": sys.executable}
                variables = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "OOMPH_"))}
                for stale in ("output", "path", "summary"):
                    (folder / stale).unlink(missing_ok=True)
                return Job(folder, usual | named, variables).run()

            body(run_action, folder)
            assert not list(folder.rglob("pwned")), "an input was run"

    return run_case


def schema(_oomph: Path) -> None:
    """The action satisfies the schema of SchemaStore, and pins actions of others to a commit."""
    vendored = importlib.resources.files("check_jsonschema") / "builtin_schemas/vendor/github-actions.json"
    jsonschema.validate(read_action(), json.loads(vendored.read_text(encoding="utf-8")))
    uses = [step["uses"] for step in read_action()["runs"]["steps"] if "uses" in step]
    assert uses and all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", it) for it in uses), uses


def lint_found(run_action, folder: Path) -> None:
    """A finding is an annotation, a line of the summary and an output, and fails the step."""
    write(folder / "work", "src/train.py", MISTAKE)
    job = run_action(target="src", sarif_file="lint.sarif")
    equal(job.status, 1, f"the status of the step\n{job.log}")
    found = {name: job.result(name) for name in ("verdict", "exit-status", "headline")}
    equal(found, {"verdict": "found", "exit-status": "1", "headline": "1 finding in 1 file: 1 error"}, "the outputs")
    assert "::error file=src/train.py,line=11,col=9,title=accumulated-graph::" in job.log, job.log
    assert job.summary.startswith("### oomph lint: 1 finding in 1 file"), job.summary
    equal(json.loads(Path(job.result("sarif-file")).read_text())["version"], "2.1.0", "the SARIF file")
    equal(job.result("sarif-file"), str((folder / "work/lint.sarif").resolve()), "the place of the SARIF file")


def lint_clean(run_action, folder: Path) -> None:
    """Without findings the step passes, in the folder of the input."""
    write(folder / "work", "a b/train.py", CLEAN)
    job = run_action(working_directory="a b", args="--pedantic --ignore 'workers-unset'")
    equal((job.status, job.result("verdict"), job.result("sarif-file")), (0, "clean", ""), job.log)


def lint_fails(run_action, folder: Path) -> None:
    """`fail-on` decides which exit status fails the step; the outputs are the same."""
    write(folder / "work", "train.py", MISTAKE)
    for fail_on, target, expected in (
        ("found", "train.py", (1, "1")), ("error", "train.py", (0, "1")), ("never", "train.py", (0, "1")),
        ("found", "none.py", (2, "2")), ("error", "none.py", (2, "2")), ("never", "none.py", (0, "2")),
    ):  # fmt: skip
        job = run_action(target=target, fail_on=fail_on)
        equal((job.status, job.result("exit-status")), expected, f"{fail_on} of {target}\n{job.log}")
    equal((job.result("verdict"), job.result("headline")), ("error", "there is nothing at `none.py`"), "the answer")
    assert "there is nothing at" in job.summary, job.summary


def check_script(run_action, folder: Path) -> None:
    """`check` runs the script with its arguments, on the GPU of the input."""
    allocation = "import sys, torch\nblock = torch.empty(int(sys.argv[1]) << 30, dtype=torch.uint8, device='cuda')\n"
    write(folder / "work", "my train.py", allocation)
    for size, expected, verdict in (("2", (0, "0"), "fits"), ("40", (1, "1"), "does not fit")):
        job = run_action(command="check", target=f"'my train.py' {size}", gpu="rtx-4090", args="--steps 1")
        equal((job.status, job.result("exit-status")), expected, f"{size} GiB\n{job.log}")
        assert job.summary.startswith(f"### oomph check: {verdict}"), job.summary
        assert "title=oomph check::" in job.log, job.log
        equal(json.loads(Path(job.result("report")).read_text())["gpu"]["name"], "NVIDIA GeForce RTX 4090", "the GPU")


def inputs_are_data(run_action, folder: Path) -> None:
    """No input is run, and a wrong one is refused with a sentence."""
    write(folder / "work", "train.py", CLEAN)
    wrong = (
        {"command": INJECTED}, {"target": INJECTED}, {"args": INJECTED}, {"fail_on": INJECTED}, {"sarif_file": f"./{INJECTED}"},
        {"command": "check", "gpu": INJECTED, "target": "train.py"}, {"command": "check"}, {"wheel": "", "version": INJECTED}, {"wheel": INJECTED}, {"wheel": "x\nfolder=y"},
        {"sarif_file": "x\nverdict=y"},
    )  # fmt: skip
    for inputs in wrong:
        job = run_action(**inputs)
        is_harmless = "sarif_file" in inputs and INJECTED in inputs["sarif_file"]
        assert (job.status == 0) is is_harmless, f"{inputs}: {job.status}\n{job.log}"


def installed(run_action, folder: Path) -> None:
    """Without a wheel and a version, the installed oomph runs, or the step says what to set."""
    write(folder / "work", "train.py", CLEAN)
    job = run_action(wheel="")
    equal(job.status, 2, "the status without oomph")
    assert "set the input `version` or `wheel`" in job.log, job.log
    first = run_action()
    binary = Path((folder / "path").read_text().strip()) / "oomph"
    assert binary.stat().st_mode & stat.S_IXUSR, binary
    equal((first.status, first.outputs["place"]["folder"]), (0, str(binary.parents[1])), "the folder that is cached")


CASES: dict[str, Callable[[Path], None]] = {
    "action schema": schema,
    "action lint with a finding": case(lint_found),
    "action lint without findings": case(lint_clean),
    "action fail-on": case(lint_fails),
    "action check": case(check_script),
    "action inputs are data": case(inputs_are_data),
    "action installs": case(installed),
}
