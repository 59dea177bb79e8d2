"""Remedies: changes to the running program, without touching its source.

Note [Remedies]
~~~~~~~~~~~~~~~
`OOMPH_REMEDIES` is a JSON list of `{"remedy": NAME, "settings": {KEY: VALUE}}`, in the order of installation. Each remedy is a module here
of the same name (`optimizer-fused` is `optimizer_fused.py`), with one function:

    def install(remedy: Remedy) -> None

The function is called right after the import of torch, before the program continues and before CUDA is initialised, and replaces parts of
PyTorch or of a library (Note [Replacements] in `hooks`; the names are rows of `hooks/rows/remedies.py`). Where the remedy takes effect it
calls `remedy.applied`, and where it cannot, `remedy.rejected` with the reason: both note the user's line. For a remedy without notes,
`finish` reports that it found nothing to change. A remedy that changes the program before the import of torch (reading its options) is marked so in the table
(`crates/remedies/src/table.rs`) and has a second function, `prepare(remedy)`, called before the program starts; its module imports torch in
`install` at the earliest. An error during installation is noted as a rejection; an error that the remedy causes in the program ends the
program, as on a GPU.

A remedy does what a user would write by hand, no more: the patch that `oomph fit --emit diff` offers must reach the same peak.
"""

import importlib
import json
import os
import sys
from collections.abc import Callable

from .. import records, wire
from ..part import Part, Write
from ..process import frames
from ..failure import say
from . import actions, table


class Remedy:
    """A requested remedy and the records of its effects."""

    def __init__(self, name: str, settings: dict, write: Callable[[dict], None]) -> None:
        self.name = name
        self.settings = settings
        # Appends a record about this remedy.
        self.write = write
        self._noted: set[tuple] = set()
        # Called when the program ends: what can only be said then.
        self.at_end: list = []
        # Called before the first training of a model.
        self.at_training: list = []
        # The reason of the rejection if the remedy records nothing.
        self.otherwise = "it found nothing to change"

    def applied(self, text: str, at: tuple[str, int] | None = None, alters: bool = False, *, action: dict | None = None) -> None:
        """Records an edit at the running line of the user (or at `at`): as an action for programs, and in words for people.

        Without an action, the edit is the remedy's only edit, described by its settings. `alters`: in this program results differ by more
        than rounding, though the remedy by itself changes no results.
        """
        self._note(True, text, at, action or actions.apply(), alters)

    def rejected(self, text: str, at: tuple[str, int] | None = None) -> None:
        """Records that the remedy could not take effect, with the reason `text`."""
        self._note(False, text, at, None)

    def _note(self, is_applied: bool, text: str, at: tuple[str, int] | None, action: dict | None, alters: bool = False) -> None:
        file, line = at or frames.users_line(sys._getframe(2))
        if (is_applied, text, file, line) not in self._noted:
            self._noted.add((is_applied, text, file, line))
            self.write(
                records.remedy(
                    remedy=self.name, applied=is_applied, action=action, text=text, file=file, line=line, alters=alters
                )
            )

    def finish(self) -> None:
        """The program has ended."""
        for function in self.at_end:
            function()
        if not self._noted:
            self.rejected(self.otherwise, at=("", 0))


def is_asked(name: str) -> bool:
    """True if a remedy is requested: some work together."""
    return any(one["remedy"] == name for one in _asked())


def _asked() -> list[dict]:
    return json.loads(os.environ.get(wire.REMEDIES) or "[]")


class Remedies(Part):
    """All requested remedies."""

    def __init__(self) -> None:
        self._remedies = [Remedy(one["remedy"], one.get("settings") or {}, self._record) for one in _asked()]
        # Records made before the writer exists.
        self._held: list[dict] = []
        self._write: Write | None = None

    def prepare(self) -> None:
        """Prepares the remedies that act before the program imports torch."""
        for remedy in self._remedies:
            if remedy.name in table.BEFORE_TORCH:
                _attempt(remedy, "prepare")

    def install(self, write: Write) -> None:
        """Installs the remedies in the requested order; `write` appends a record."""
        self._write = write
        for record in self._held:
            write(record)
        for remedy in self._remedies:
            _attempt(remedy, "install")

    def finish(self, reason: str, write: Write) -> None:
        """Records a rejection for each remedy that recorded nothing."""
        for remedy in self._remedies:
            remedy.finish()

    def _record(self, record: dict) -> None:
        if self._write is None:
            self._held.append(record)
        else:
            self._write(record)


def _attempt(remedy: Remedy, function: str) -> None:
    try:
        getattr(importlib.import_module(f".{remedy.name.replace('-', '_')}", __name__), function)(remedy)
    except Exception as error:
        say(f"remedy {remedy.name} failed: {type(error).__name__}: {error}")
        remedy.rejected(f"it failed: {type(error).__name__}: {error}", at=("", 0))
