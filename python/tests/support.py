"""Runs programs with the agent injected, and reads the run directory."""

import importlib.util
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest
from dataclasses import dataclass, field
from pathlib import Path

from oomph.agent import records

INJECT = Path(__file__).resolve().parents[1] / "oomph" / "agent" / "inject"
PHANTOM = os.environ.get("OOMPH_TEST_PHANTOM")

needs_torch = unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
needs_phantom = unittest.skipUnless(PHANTOM, "OOMPH_TEST_PHANTOM does not name the phantom's folder")


@dataclass
class Ran:
    """The results of a program."""

    status: int
    stdout: str
    stderr: str
    # File name to records.
    files: dict[str, list[dict]] = field(default_factory=dict)
    # The first rank's snapshot.
    snapshot: dict | None = None
    # The Python stacks that each process wrote on request.
    stacks: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)

    def records(self, kind: str, file: str = "rank0.marks.jsonl") -> list[dict]:
        """The records of one kind."""
        return [record for record in self.files.get(file, []) if record["kind"] == kind]

    def end(self) -> dict:
        """The last record, which must say how the program ended."""
        last = self.files["rank0.marks.jsonl"][-1]
        assert last["kind"] == "end", last
        return last

    def marks(self) -> list[dict[str, str]]:
        """The marks of all allocations of the first device, in order."""
        events = [event for event in self.snapshot["device_traces"][0] if event["action"] == "alloc"]
        return [_parse_mark(event["user_metadata"]) for event in events]


def run_program(source: str, *, phantom: bool = False, recorded: bool = True, **variables: str) -> Ran:
    """Runs a program in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        script, run_dir = Path(folder, "program.py"), Path(folder, "run")
        run_dir.mkdir()
        script.write_text(textwrap.dedent(source))
        env = {**_environment(run_dir, phantom, recorded), **variables}
        command = [sys.executable, "-B", str(script)]
        done = subprocess.run(
            command, env=env, cwd=folder, capture_output=True, text=True, timeout=600, preexec_fn=_heed_interrupts
        )
        return _collect(Ran(done.returncode, done.stdout, done.stderr), run_dir)


def _heed_interrupts() -> None:
    """Enables Ctrl-C: a shell makes its background jobs ignore the signal, and children inherit the setting."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _environment(run_dir: Path, phantom: bool, recorded: bool) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("OOMPH_")}
    if recorded:
        env |= {"PYTHONPATH": str(INJECT), "OOMPH_RUN_DIR": str(run_dir)}
    if phantom:
        env |= {"LD_LIBRARY_PATH": PHANTOM, "LD_PRELOAD": "liboomph_phantom.so"}
    return env


def _collect(ran: Ran, run_dir: Path) -> Ran:
    for path in sorted(run_dir.iterdir()):
        if path.name.endswith(".marks.jsonl"):
            ran.files[path.name] = [_check_keys(json.loads(line)) for line in path.read_text().splitlines()]
        elif path.name == "rank0.snapshot.pickle":
            ran.snapshot = pickle.loads(path.read_bytes())
        elif path.name.startswith("stack-"):
            ran.stacks.append(path.read_text())
        elif not path.name.startswith(("phantom-", "position-")):
            ran.leftovers.append(path.name)
    return ran


def _check_keys(record: dict) -> dict:
    """Holds a record to the contract: its function in `records` takes these keys, and no fewer, and writes them in this order."""
    keys = {key: value for key, value in record.items() if key != "kind"}
    assert list(getattr(records, record["kind"])(**keys)) == list(record), record
    return record


def _parse_mark(text: str) -> dict[str, str]:
    fields, module = text.removeprefix("oomph ").split(" module=", 1)
    return {**dict(field.split("=") for field in fields.split(" ")), "module": module}
