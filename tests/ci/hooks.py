"""The hooks of pre-commit, by the real pre-commit in git repositories of their own: nothing is fetched, the wheel lies in a folder."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import tomllib
import virtualenv.seed.wheels.embed
import yaml
from packaged import build_wheel, read_version
from mistake import CLEAN, MENDED, MISTAKE, RULE
from samples import equal, write

ROOT = Path(__file__).resolve().parents[2]
MIRROR = ROOT / "pre-commit"
PATIENCE = 120


class Project:
    """A repository with a hook."""

    def __init__(self, oomph: Path, folder: Path) -> None:
        self.folder, self.work = folder, folder / "work"
        wheels = folder / "wheels"
        for new in (self.work, wheels):
            new.mkdir()
        build_wheel(oomph, wheels)
        # setuptools builds the mirror's package; virtualenv ships a wheel of it.
        wheels_of_virtualenv = Path(virtualenv.seed.wheels.embed.__file__).parent
        author = {f"GIT_{who}_{what}": "oomph" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        own = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": f"{wheels} {wheels_of_virtualenv}", "PRE_COMMIT_HOME": str(folder / "home")}
        own |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | author | own
        self.call("git", "init", "--quiet", cwd=self.work)

    def call(self, *words: str, cwd: Path, status: int = 0) -> str:
        """Runs a command; returns what it prints."""
        done = subprocess.run(words, cwd=cwd, env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        printed = done.stdout + done.stderr
        assert done.returncode == status, f"{' '.join(words)}: expected status {status}, found {done.returncode}\n{printed}"
        return printed

    def clone_hooks(self, files: list[Path]) -> tuple[str, str]:
        """Makes the repository that holds the hooks; returns its place and its revision."""
        place = self.folder / "hooks"
        place.mkdir()
        for path in files:
            shutil.copy(path, place)
        self.call("git", "init", "--quiet", cwd=place)
        self.call("git", "add", ".", cwd=place)
        self.call("git", "commit", "--quiet", "--message", "hooks", cwd=place)
        return str(place), self.call("git", "rev-parse", "HEAD", cwd=place).strip()

    def configure(self, repository: dict) -> None:
        """Writes the project's settings of pre-commit."""
        write(self.work, ".pre-commit-config.yaml", yaml.safe_dump({"repos": [repository]}))

    def run_hook(self, text: str, status: int) -> str:
        """Runs the hooks on a file."""
        write(self.work, "train.py", text)
        self.call("git", "add", ".", cwd=self.work)
        return self.call("pre-commit", "run", "--all-files", "--color", "never", cwd=self.work, status=status)


def case(body: Callable[[Project], None]) -> Callable[[Path], None]:
    """A case with a project."""

    def run_case(oomph: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="oomph-hooks-") as folder:
            body(Project(oomph, Path(folder)))

    return run_case


def run_both(project: Project) -> None:
    """The hook fails with the finding, and passes without one."""
    found = project.run_hook(MISTAKE, status=1)
    assert f"error[{RULE}]" in found and "train.py:11:9" in found, found
    assert "Passed" in project.run_hook(CLEAN, status=0)


def mirror(project: Project) -> None:
    """The mirror repository installs the wheel."""
    place, revision = project.clone_hooks([MIRROR / "pyproject.toml", MIRROR / ".pre-commit-hooks.yaml", MIRROR / "README.md"])
    project.configure({"repo": place, "rev": revision, "hooks": [{"id": "oomph-lint"}]})
    run_both(project)
    project.configure({"repo": place, "rev": revision, "hooks": [{"id": "oomph-lint-fix"}]})
    assert "files were modified by this hook" in project.run_hook(MISTAKE, status=1)
    equal((project.work / "train.py").read_text(), MENDED, "the fixed file")


def local(project: Project) -> None:
    """A hook of the project itself installs the wheel by `additional_dependencies`."""
    hook = {"id": "oomph-lint", "name": "oomph lint", "entry": "oomph lint", "language": "python", "types_or": ["python", "jupyter"]}
    project.configure({"repo": "local", "hooks": [hook | {"additional_dependencies": [f"oomph=={read_version()}"], "require_serial": True}]})
    run_both(project)


def installed(project: Project) -> None:
    """The hook of this repository runs the installed oomph."""
    python = str(project.folder / "own/bin/python")
    project.call(sys.executable, "-m", "venv", "own", cwd=project.folder)
    project.call(python, "-m", "pip", "install", "--quiet", "oomph", cwd=project.folder)
    project.environment["PATH"] = f"{Path(python).parent}:{project.environment['PATH']}"
    place, revision = project.clone_hooks([ROOT / ".pre-commit-hooks.yaml"])
    project.configure({"repo": place, "rev": revision, "hooks": [{"id": "oomph-lint"}]})
    run_both(project)


def versions(_oomph: Path) -> None:
    """The mirror has the version of the workspace, and installs that version."""
    package = tomllib.loads((MIRROR / "pyproject.toml").read_text())["project"]
    equal((package["version"], package["dependencies"]), (read_version(), [f"oomph=={read_version()}"]), "the versions of the mirror")


CASES: dict[str, Callable[[Path], None]] = {
    "hook of the mirror": case(mirror),
    "hook of the project": case(local),
    "hook of the installed oomph": case(installed),
    "version of the mirror": versions,
}
