"""The scenery, as a part of the session."""

from ..part import Part, Write
from ..phantom import Phantom
from . import waiting
from .outside import acts
from .texts import lengths
from .weights import ledger


class Scenery(Part):
    """Weights, tokenizers and data sets that are not there, over a phantom GPU."""

    def __init__(self, found: Phantom | None) -> None:
        self._is_wanted = found is not None

    def install(self, write: Write) -> None:
        """Waits for the libraries that load them."""
        if self._is_wanted:
            waiting.wait_for("weights", "texts", "data")

    def finish(self, reason: str, write: Write) -> None:
        """The records of made-up weights and texts, and of suppressed acts."""
        for row in [*ledger.list_records(), *lengths.list_records(), *acts.list_records()]:
            write(row)
