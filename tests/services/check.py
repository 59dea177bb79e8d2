"""Runs programs with real clients of services under `oomph check`: nothing reaches a server, and the program goes on.

    target/services/bin/python tests/services/check.py --oomph target/release/oomph [WORD ...]

Each program of `work` has a server in its own process, which stands for the service. The program checks what the libraries
return, and ends with status 3 if a request that changes something has come. The first line of the report counts the acts that were not
done; their numbers below are counted by hand in the sources. With `--all` each program runs without oomph, too: its server must see a request,
or the case would show nothing. (Some clients ask first, and end at an answer that is none of the service's.)
"""

import contextlib
import hashlib
import http.server
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import suite

PATIENCE = 300
# Without oomph, the libraries report no errors to their makers.
NO_REPORTS = {"WANDB_ERROR_REPORTING": "false", "MLFLOW_DISABLE_TELEMETRY": "true", "COMET_ERROR_TRACKING_ENABLE": "false"}
# The share of the cases in `make test`.
SHARE = 0.5
# A client without oomph tries again and again, since its server answers nothing useful.
PATIENCE_WITHOUT = 40


@dataclass(frozen=True)
class Expected:
    """The acts of a program that are not done, by library and kind."""

    acts: dict[str, dict[str, int]] = field(default_factory=dict)
    # False for a program that changes no server.
    is_sending: bool = True


CASES = {
    "wandb_run": Expected({"wandb": {"run": 2, "message": 3, "upload": 1, "change": 2}}),
    "mlflow_run": Expected({"mlflow": {"run": 1}}),
    "mlflow_files": Expected(is_sending=False),
    "comet_run": Expected({"comet_ml": {"change": 1, "run": 2}}),
    "neptune_run": Expected({"neptune": {"run": 2}}),
    "clearml_task": Expected({"clearml": {"run": 1}}),
    "amazon_store": Expected({"boto3": {"upload": 4, "removal": 2, "message": 2}}),
    "google_store": Expected({"google-cloud-storage": {"change": 3, "upload": 3, "removal": 2}}),
    "azure_store": Expected({"azure-storage-blob": {"change": 2, "upload": 3, "removal": 2}}),
    # A file is two messages and an upload.
    "slack_messages": Expected({"slack_sdk": {"message": 6, "upload": 1}}),
    "apprise_messages": Expected({"apprise": {"message": 2}}),
    "telegram_messages": Expected({"telegram": {"message": 2}}),
    "hub_repository": Expected({"huggingface_hub": {"change": 2, "upload": 2, "removal": 1}}),
    "model_upload": Expected({"huggingface_hub": {"upload": 2}}),
}


def main() -> int:
    """Exit status 1 if a program's server sees a change, or if the report counts other acts."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = arguments.oomph.absolute()
    cases = [suite.Case(name, partial(check, oomph, name, expected), group="services", share=SHARE) for name, expected in CASES.items()]
    sending = [name for name, expected in CASES.items() if expected.is_sending]
    cases += [suite.Case(f"{name} without oomph", partial(send, name), is_extra=True) for name in sending]
    cases.append(suite.Case("nltk_data", partial(keep_download, oomph), group="services", share=SHARE))
    return suite.run("services", cases, arguments)


def check(oomph: Path, name: str, expected: Expected) -> str:
    """Checks a program in a folder of its own; returns the report's sentence on the acts."""
    with tempfile.TemporaryDirectory(prefix="oomph-services-") as folder:
        words = [str(oomph), "check", "--gpu", "rtx-4090", "--json", "--", *_program(name)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, cwd=folder)
        left = sorted(path.name for path in Path(folder).iterdir())
    assert done.returncode == 0, f"expected exit status 0, found {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
    said = [line for line in done.stderr.splitlines() if line.startswith("oomph agent:")]
    assert not said, "\n".join(said)
    assert not left, f"expected no files after the dry run, found {left}"
    notes = [note for note in json.loads(done.stdout)["notes"] if "sent nothing" in note]
    assert notes == describe(expected), f"expected {describe(expected)}, found {notes}"
    return notes[0] if notes else ""


def keep_download(oomph: Path) -> str:
    """An archive that NLTK has fetched stays in its cache, for later runs. (Its files may go: NLTK reads archives.)"""
    with tempfile.TemporaryDirectory(prefix="oomph-services-") as folder, serve(Path(folder)) as url:
        home = Path(folder) / "home"
        home.mkdir()
        words = [str(oomph), "check", "--gpu", "rtx-4090", "--json", "--", *_program("nltk_data")]
        own = os.environ | {"HOME": str(home), "SERVICES_URL": url}
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, cwd=folder, env=own)
        assert done.returncode == 0, f"expected exit status 0, found {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
        kept = sorted(path.relative_to(home).as_posix() for path in (home / "nltk_data").rglob("*") if path.is_file())
    assert "nltk_data/corpora/words.zip" in kept, f"expected the archive, found {kept}"
    return f"downloads kept: {json.loads(done.stdout)['effects']['downloads_kept']}"


@contextlib.contextmanager
def serve(folder: Path) -> Iterator[str]:
    """A server with the index and the archive of a small corpus."""
    site = folder / "site"
    site.mkdir()
    with zipfile.ZipFile(site / "words.zip", "w") as archive:
        archive.writestr("words/en", "one two\n")
    data = (site / "words.zip").read_bytes()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=str(site)))
    url = f"http://127.0.0.1:{server.server_port}"
    digests = f'checksum="{hashlib.md5(data).hexdigest()}" sha256_checksum="{hashlib.sha256(data).hexdigest()}"'
    package = f'<package id="words" name="words" subdir="corpora" unzip="1" size="{len(data)}" unzipped_size="8" {digests} url="{url}/words.zip"/>'
    (site / "index.xml").write_text(f"<nltk_data><packages>{package}</packages><collections/></nltk_data>")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield url
    finally:
        server.shutdown()
        server.server_close()


class _Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_args) -> None:
        """Prints nothing."""


def describe(expected: Expected) -> list[str]:
    """The sentence of the report."""
    acts = [
        f"{library} ({count} {action}{'s' if count > 1 else ''})"
        for library, actions in sorted(expected.acts.items())
        for action, count in sorted(actions.items())
    ]
    return [f"the dry run sent nothing by {', '.join(acts)}: --online lets it"] if acts else []


def send(name: str) -> str:
    """Runs a program without oomph, on the CPU; returns the first request at its server."""
    with tempfile.TemporaryDirectory(prefix="oomph-services-") as folder:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "env": os.environ | NO_REPORTS}
        process = subprocess.Popen(_program(name), cwd=folder, start_new_session=True, **quiet)
        try:
            process.wait(PATIENCE_WITHOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        path = Path(folder) / "requests.txt"
        requests = path.read_text().splitlines() if path.exists() else []
    assert requests, "expected a request at the server, found none"
    return requests[0]


def _program(name: str) -> list[str]:
    return [sys.executable, str(HERE / "work" / f"{name}.py")]


if __name__ == "__main__":
    sys.exit(main())
