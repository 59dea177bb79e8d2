"""Published figures, beside the report of `oomph check` on the same programs."""

import os
import shlex
import tomllib
from dataclasses import dataclass
from decimal import Decimal

from catalogue import HERE
from predict import Job


@dataclass(frozen=True)
class Source:
    """The place of some figures, and their subject."""

    title: str
    url: str
    ran: str
    gpu: str
    unit: int
    quantity: str


@dataclass(frozen=True)
class Figure:
    """A figure, as printed in its source."""

    source: Source
    run: str
    published: str
    because: str
    # True if a run with the other version showed the claim of `because`.
    proven: bool
    # True if a model was made from the figure, which therefore confirms nothing.
    made_a_model: bool
    fast: bool

    @property
    def bytes(self) -> int:
        """The figure; exact to half its last digit."""
        return int(Decimal(self.published) * self.source.unit)

    @property
    def rounding(self) -> int:
        """Half of the last digit, in bytes, at least 1: within it, figures are equal."""
        return max(1, int(Decimal(5).scaleb(Decimal(self.published).as_tuple().exponent - 1) * self.source.unit))

    @property
    def job(self) -> Job:
        """The prediction to make."""
        script, *arguments = shlex.split(self.run)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTORCH_", "TORCH_"))}
        return Job(f"{self.source.gpu}: {self.run}", self.source.gpu, HERE / "published" / script, tuple(arguments), kept)


def figures() -> list[Figure]:
    """All of them, in the order of the table."""
    table = tomllib.loads((HERE / "published.toml").read_text(encoding="utf-8"))
    sources = {name: Source(**entry) for name, entry in table["source"].items()}
    return [
        Figure(
            source=sources[entry["source"]],
            run=entry["run"],
            published=entry["published"],
            because=entry.get("because", ""),
            proven=entry.get("proven", False),
            made_a_model=entry.get("made_a_model", False),
            fast=entry.get("fast", True),
        )
        for entry in table["figure"]
    ]
