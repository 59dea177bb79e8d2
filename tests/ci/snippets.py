"""The snippets of docs/ci.md: each is valid for the program that reads it, and names inputs, hooks and formats that exist."""

import importlib.resources
import json
import re
from collections.abc import Callable
from pathlib import Path

import jsonschema
import yaml
from action import read_action
from hooks import MIRROR
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/ci.md"
FENCE = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A snippet, by its first line: its schema among those of `check-jsonschema`.
SCHEMAS = {"# .github/workflows/": "github-workflows", "# .gitlab-ci.yml": "gitlab-ci"}


def list_snippets(start: str) -> list[dict]:
    """The snippets whose first line begins with a text, as YAML 1.2: `on` is no truth value."""
    found = [YAML(typ="safe").load(text) for text in FENCE.findall(PAGE.read_text(encoding="utf-8")) if text.startswith(start)]
    assert found, f"{PAGE} has no snippet `{start}`"
    return found


def are_valid(_oomph: Path) -> None:
    """Workflows satisfy the schemas of SchemaStore."""
    for start, name in SCHEMAS.items():
        vendored = importlib.resources.files("check_jsonschema") / f"builtin_schemas/vendor/{name}.json"
        schema = json.loads(vendored.read_text(encoding="utf-8"))
        for snippet in list_snippets(start):
            jsonschema.Draft7Validator(schema).validate(snippet)


def inputs_exist(_oomph: Path) -> None:
    """Steps with the action have inputs that it has, and read outputs that it has."""
    action = read_action()
    for workflow in list_snippets("# .github/workflows/"):
        text = json.dumps(workflow)
        steps = [step for job in workflow["jobs"].values() for step in job["steps"] if "oomph" in step.get("uses", "")]
        unknown = {name for step in steps for name in step["with"]} - action["inputs"].keys()
        unknown |= set(re.findall(r"steps\.oomph\.outputs\.([\w-]+)", text)) - action["outputs"].keys()
        assert steps and not unknown, f"unknown inputs or outputs: {unknown}"


def hooks_exist(_oomph: Path) -> None:
    """Hooks of the mirror and of this repository are named as they are."""
    files = (MIRROR / ".pre-commit-hooks.yaml", ROOT / ".pre-commit-hooks.yaml")
    known = {hook["id"] for path in files for hook in yaml.safe_load(path.read_text())}
    named = {hook["id"] for snippet in list_snippets("# .pre-commit-config.yaml") for repository in snippet["repos"] for hook in repository["hooks"]}
    assert named <= known, f"unknown hooks: {named - known}"


CASES: dict[str, Callable[[Path], None]] = {
    "snippets are valid": are_valid,
    "snippets name inputs": inputs_exist,
    "snippets name hooks": hooks_exist,
}
