"""The table of what is replaced: one row for each name of Python, PyTorch or another library."""

from dataclasses import dataclass

from .rows import libraries, pytorch, remedies


@dataclass(frozen=True)
class Row:
    """One name."""

    # `module:attribute`; an attribute of a class has a dot. A `*` at the end is for any rest of the name.
    name: str
    # Other names of the same function, which get the same stand-in.
    aliases: tuple[str, ...]
    # By the part of the agent: what its layer is for.
    parts: dict[str, str]
    # True if the compiler of PyTorch sees the layers; else a function under compilation is the original.
    is_traced: bool = False
    # True for a value in place of another, put after the import.
    is_value: bool = False
    # True for a value in place of another, put by a part for some time.
    is_lent: bool = False

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
    for part, why, names, *flags in (*pytorch.ROWS, *remedies.ROWS, *libraries.ROWS):
        for entry in names:
            name, *aliases = entry.split(" = ")
            before = rows.get(name)
            parts = {**(before.parts if before else {}), part: why}
            others = tuple(dict.fromkeys((*(before.aliases if before else ()), *aliases)))
            is_traced = "traced" in flags or (before is not None and before.is_traced)
            rows[name] = Row(name, others, parts, is_traced, "value" in flags, "lent" in flags)
    return rows


ROWS = _read_rows()
