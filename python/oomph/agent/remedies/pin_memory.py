"""pin-memory: batches in page-locked memory of the host or not, as is often advised either way."""

from . import Remedy
from .loaders import with_keyword


def install(remedy: Remedy) -> None:
    """`pin_memory=True` for every DataLoader; with `on=false` False."""
    on = remedy.settings.get("on", True)
    if not isinstance(on, bool):
        return remedy.rejected(f"on={on}: expected true or false", at=("", 0))
    with_keyword(remedy, "pin_memory", on, "pinned memory is the host's")
