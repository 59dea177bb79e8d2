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
    hold(command, document)
    if command in REPORTS:
        words = [oomph.parent / "examples" / "reread", command]
        again = subprocess.run(words, input=text, capture_output=True, encoding="utf-8", check=False)
        assert (again.returncode, again.stdout) == (0, text), f"{command} --json is read as another report: {again.stderr}"
    return document


def parse(text: str) -> dict:
    """The report on standard output; empty without one, as after an error."""
    document = json.loads(text) if text.lstrip().startswith("{") else {}
    return {} if "error" in document else document


def parse_error(text: str) -> dict:
    """The error on standard output, which must be as its schema says."""
    document = json.loads(text)
    hold("error", document)
    return document["error"]


def hold(name: str, document) -> None:
    """Holds a document to the schema of that name."""
    error = jsonschema.exceptions.best_match(validator(name).iter_errors(document))
    assert error is None, f"{name}.json does not allow the document at {error.json_path}: {error.message[:500]}"


@functools.cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    """The schema of that name, which must be a schema itself."""
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)
