"""The shared part of all system tests: a separate place for each case, ways to run oomph there, and the conditions afterwards.

After every case no process of the case is left, and nothing is left in the folder for temporary files.
"""

import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import documents
from suite import Skip

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PROGRAMS = ROOT / "tests" / "programs"

# Variables of coding agents: oomph would answer with their object.
AGENTS = ("CLAUDECODE", "CODEX_SANDBOX", "AI_AGENT", "CURSOR_AGENT")
# Names the case in the environment of all its processes, even of orphans.
_MARK = "SYSTEM_TEST_CASE"
# Of a run that takes more than ten seconds, in a file.
_PROGRESS = re.compile(r"oomph: .*, \d+ s so far")
# `--timeout` of programs that must first reach a point: enough on a busy machine.
LIMIT_SECONDS = 45
# No case takes this long, unless oomph hangs.
_PATIENCE = 900


def like_others() -> list[str]:
    """The words before a command line by which root drops the right to read and write everything."""
    rights = "-dac_override,-dac_read_search"
    words = [] if os.geteuid() else ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"]
    if words and subprocess.run([*words, "true"], capture_output=True).returncode != 0:
        raise Skip("we are root, and cannot be less")
    return words


@dataclass(frozen=True)
class Case:
    """A case; `body` fails by an `AssertionError` with the found and the expected value."""

    name: str
    body: Callable[["Box"], None]
    # As in `suite.Case`.
    alone: bool = False
    memory: float = 2
    is_long: bool = False
    is_extra: bool = False


@dataclass(frozen=True)
class Result:
    """The output of a command."""

    words: list[str]
    status: int
    stdout: str
    # Without the lines of progress, which a slow machine has more of.
    stderr: str
    progress: list[str] = field(default_factory=list)

    @functools.cached_property
    def report(self) -> dict:
        """Standard output, which must be a report."""
        at = next(at for at, word in enumerate(self.words) if Path(word).name == "oomph")
        try:
            return documents.read(Path(self.words[at]), self.words[at + 1], self.stdout)
        except (ValueError, AssertionError) as error:
            raise AssertionError(f"{self}\nstandard output is no report: {error}") from None

    def __str__(self) -> str:
        shown = (f"$ {' '.join(self.words)}", f"status {self.status}", "stdout:", self.stdout, "stderr:", self.stderr)
        return "\n".join(shown).rstrip()


@dataclass
class Box:
    """The place of a case: a folder to work in, a folder for temporary files, an environment."""

    oomph: Path
    python: Path
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def temporary(self) -> Path:
        """The folder of `TMPDIR`."""
        return self.folder / "temporary files"

    @property
    def work(self) -> Path:
        """The folder that commands are started in."""
        return self.folder / "work"

    def write(self, name: str, text: str) -> Path:
        """A file below the working folder."""
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def start(self, *words, env: dict | None = None, **options) -> subprocess.Popen:
        """Starts a command in the box; an entry of `env` that is `None` removes the variable."""
        environment = self.environment | (env or {})
        return subprocess.Popen(
            [str(word) for word in words],
            cwd=options.pop("cwd", self.work),
            env={name: str(value) for name, value in environment.items() if value is not None},
            stdin=options.pop("stdin", subprocess.DEVNULL),
            stdout=options.pop("stdout", subprocess.PIPE),
            stderr=options.pop("stderr", subprocess.PIPE),
            start_new_session=True,
            **options,
        )

    def run(self, *words, env: dict | None = None, **options) -> Result:
        """Runs a command to its end."""
        return collect(self.start(*words, env=env, **options))

    def check(self, *words, env: dict | None = None, python: Path | None = None, **options) -> Result:
        """`oomph check` with the Python under test."""
        chosen = ["--python", python or self.python] if "--" not in words else []
        return self.run(self.oomph, "check", *chosen, *words, env=env, **options)

    def processes(self) -> list[int]:
        """The processes that bear the case's mark."""
        mark = f"{_MARK}={self.environment[_MARK]}".encode()
        return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and _bears(entry, mark)]

    def assert_clean(self) -> None:
        """No process and no temporary file is left."""
        left = {pid: _command_line(pid) for pid in self.processes()}
        assert not left, f"processes are left: {left}"
        files = sorted(str(path.relative_to(self.temporary)) for path in self.temporary.rglob("*"))
        assert not files, f"temporary files are left: {files}"


def collect(process: subprocess.Popen) -> Result:
    """Waits for a command; a hanging command is killed, and fails the case."""
    try:
        stdout, stderr = process.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        stdout, stderr = process.communicate()
        raise AssertionError(f"{process.args} did not end within {_PATIENCE} s\n{_text(stdout)}\n{_text(stderr)}") from None
    lines = _text(stderr).splitlines(keepends=True)
    progress = [line for line in lines if _PROGRESS.fullmatch(line.rstrip("\n"))]
    rest = "".join(line for line in lines if line not in progress)
    return Result([str(word) for word in process.args], process.returncode, _text(stdout), rest, progress)


def _text(output: bytes | None) -> str:
    return (output or b"").decode("utf-8", "replace")


def _bears(entry: Path, mark: bytes) -> bool:
    try:
        return mark in (entry / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return "ended meanwhile"


class Workshop:
    """Makes the boxes, all below one folder; they share a folder of caches, as a user's invocations do."""

    def __init__(self, oomph: Path, python: Path) -> None:
        self.oomph = oomph
        self.python = python
        self.folder = Path(tempfile.mkdtemp(prefix="oomph-system-"))
        # Cases that run as another user need access.
        self.folder.chmod(0o755)

    def box(self, name: str) -> Box:
        """A fresh box with a unique name."""
        folder = self.folder / name
        box = Box(self.oomph, self.python, folder)
        box.work.mkdir(parents=True)
        box.temporary.mkdir()
        box.environment = _plain_environment() | {
            _MARK: f"{os.getpid()}-{name}",
            "TMPDIR": str(box.temporary),
            "OOMPH_CACHE_DIR": str(self.folder / "cache"),
            # PyTorch's own cache, which would otherwise lie among the temporary files.
            "TORCHINDUCTOR_CACHE_DIR": str(self.folder / "inductor"),
        }
        return box

    def close(self) -> None:
        """Removes everything."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _plain_environment() -> dict[str, str]:
    """Ours, without what would change a program or oomph."""
    theirs = ("OOMPH_", "PYTORCH_", "CUDA_", "PYTHON", "LD_", "TORCH", "VIRTUAL_ENV", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", *AGENTS)
    return {name: value for name, value in os.environ.items() if not name.startswith(theirs)}


def expect(result: Result, found, expected, what: str) -> None:
    """Fails with the whole output if `found` is not what was expected."""
    assert found == expected, f"{what} is {found!r}, expected {expected!r}\n{result}"


def contains(result: Result, text: str, *parts: str) -> None:
    """Fails with the whole output if a part is not in `text`."""
    for part in parts:
        assert part in text, f"expected to read {part!r}\n{result}"
