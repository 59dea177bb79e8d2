"""A part of the agent, as `session` installs and finishes it."""

from collections.abc import Callable

from . import records

# Appends a record to the file of this process.
Write = Callable[[dict], object]
# Notes an assumption: a stable name, and the text.
Assume = Callable[[str, str], None]


class Part:
    """Does nothing at each moment that a part does not name."""

    def install(self, write: Write) -> None:
        """Hooks and replaces functions, right after the import of torch. CUDA stays untouched; `write` is for records of later moments."""

    def attach(self) -> None:
        """CUDA has been initialised."""

    def finish(self, reason: str, write: Write) -> None:
        """Writes the last records of a program that ended for `reason`."""


class Assumptions(Part):
    """The assumptions of a run, by their stable names."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def note(self, name: str, text: str) -> None:
        """Keeps one text for each name."""
        self._texts[name] = text

    def finish(self, reason: str, write: Write) -> None:
        """The records of all assumptions."""
        for name, text in self._texts.items():
            write(records.assumption(id=name, text=text))
