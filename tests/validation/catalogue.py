"""The programs of the suite, as `programs.toml` names them, and the figures of others, as `published.toml` does."""

import importlib.util
import os
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Program:
    """A command line. `gib` is the memory of the smallest intended GPU."""

    name: str
    kind: str
    script: Path
    arguments: tuple[str, ...]
    gib: int
    environment: dict[str, str]
    needs: tuple[str, ...]
    fast: bool

    @property
    def missing(self) -> list[str]:
        """The program's packages that this Python lacks."""
        return [package for package in self.needs if importlib.util.find_spec(package) is None]

    @property
    def run(self) -> str:
        """The command, as somebody would type it in the root of the checkout."""
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        return shlex.join([*variables, "python", str(self.script.relative_to(ROOT)), *self.arguments])

    def variables(self) -> dict[str, str]:
        """The environment without variables that would change the program, and with the program's own."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTORCH_", "TORCH_"))}
        return kept | self.environment


def programs() -> list[Program]:
    """All programs, in the order of the table."""
    table = tomllib.loads((HERE / "programs.toml").read_text(encoding="utf-8"))
    return [_program(kind, name, entry) for kind, entries in table.items() for name, entry in entries.items()]


def chosen(names: list[str]) -> list[Program]:
    """The programs with one of these names or kinds; all programs for an empty list. An unknown name is an error."""
    every = programs()
    known = {program.name for program in every} | {program.kind for program in every}
    unknown = sorted(set(names) - known)
    if unknown:
        raise SystemExit(f"no such program: {', '.join(unknown)}; programs.toml lists them")
    return [program for program in every if not names or program.name in names or program.kind in names]


def _program(kind: str, name: str, entry: dict) -> Program:
    script, *arguments = shlex.split(entry["run"])
    return Program(
        name=name,
        kind=kind,
        script=ROOT / script if script.startswith("examples/") else HERE / "programs" / script,
        arguments=tuple(arguments),
        gib=entry["gib"],
        environment=entry.get("environment", {}),
        needs=tuple(entry.get("needs", ())),
        fast=entry.get("fast", False),
    )
