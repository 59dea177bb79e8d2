"""The table of what is replaced: one row for each name of Python, PyTorch or another library."""

from dataclasses import dataclass

from .rows import libraries, pytorch, remedies


@dataclass(frozen=True)
class Row:
    """One name."""

    # `module:attribute`; an attribute of a class has a dot.
    name: str
    # Other names of the same function, which get the same stand-in.
    aliases: tuple[str, ...]
    # By the part of the agent: what its layer is for.
    parts: dict[str, str]
    # True if the compiler of PyTorch has to see the layers; else a function that is being compiled is the original.
    is_traced: bool = False

    @property
    def module(self) -> str:
        """The module of the library."""
        return self.name.partition(":")[0]

    @property
    def library(self) -> str:
        """The package of the library."""
        return self.name.partition(":")[0].partition(".")[0]


def _read_rows() -> dict[str, Row]:
    """All rows by name, in the order of the files; a name that several parts change is one row with several parts."""
    rows: dict[str, Row] = {}
    for part, why, names, *traced in (*pytorch.ROWS, *remedies.ROWS, *libraries.ROWS):
        for entry in names:
            name, *aliases = entry.split(" = ")
            before = rows.get(name)
            parts = {**(before.parts if before else {}), part: why}
            others = tuple(dict.fromkeys((*(before.aliases if before else ()), *aliases)))
            rows[name] = Row(name, others, parts, bool(traced) or (before is not None and before.is_traced))
    return rows


ROWS = _read_rows()
