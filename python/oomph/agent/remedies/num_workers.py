"""num-workers: another number of processes that load data, as is often advised."""

from . import Remedy
from .loaders import with_keyword


def install(remedy: Remedy) -> None:
    """`num_workers=n` for every DataLoader, 0 unless `n` is given."""
    n = remedy.settings.get("n", 0)
    if not isinstance(n, int) or n < 0:
        return remedy.rejected(f"n={n}: expected a number from 0", at=("", 0))
    with_keyword(remedy, "num_workers", n, "workers are processes on the host, with batches in the host's memory")
