"""Holds what oomph writes as JSON to the schemas in docs/schema, and reads reports back with `crates/report/examples/reread.rs`."""

import functools
import json
import subprocess
from pathlib import Path

import jsonschema

SCHEMAS = Path(__file__).resolve().parents[1] / "docs" / "schema"
# The reports that oomph reads.
REPORTS = ("check", "explain", "fit", "tune")


def read(oomph: Path, command: str, text: str) -> dict:
    """Returns the document, which must be as its schema says, and written again as it was if oomph reads it."""
    document = json.loads(text)
    error = jsonschema.exceptions.best_match(validator(command).iter_errors(document))
    assert error is None, f"{command} --json at {error.json_path}: {error.message[:500]}"
    if command in REPORTS:
        words = [oomph.parent / "examples" / "reread", command]
        again = subprocess.run(words, input=text, capture_output=True, encoding="utf-8", check=False)
        assert (again.returncode, again.stdout) == (0, text), f"{command} --json is read as another report: {again.stderr}"
    return document


@functools.cache
def validator(command: str) -> jsonschema.Draft202012Validator:
    """The schema of a command's answer, which must be a schema itself."""
    schema = json.loads((SCHEMAS / f"{command}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)
