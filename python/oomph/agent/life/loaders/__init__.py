"""The loaders of a program whose loops are shortened.

Note [Loaders]
~~~~~~~~~~~~~~
Each iterator of a `DataLoader` counts its batches, and goes to any batch of its epoch on request (`passes.LoaderPasses`). The iterator stays
the one that PyTorch made: only its class changes, to a class derived from PyTorch's, while PyTorch's constructor runs. So the workers, the pinning thread,
`_reset` of persistent workers, and the iterators that libraries put around it (PyG, accelerate, Lightning, timm) work as before. Without a jump the
iterator returns PyTorch's batches.

The index lists of an epoch are drawn from the sampler's own iterator, once, and kept (`order.Order`): a jump is a position in them. A sampler that
draws on the program's random numbers draws one list as before; for lists that are drawn early, the state of the random numbers is restored.
With workers, the batch after a jump is fetched in the main process, as the workers hold other batches in their queues.

`bring` has a batch from elsewhere in the epoch come in place of the next one, while positions go on as before: a shuffled epoch may
have any order.

The iterators of an `IterableDataset` cannot be asked for a batch: a jump counts, and the batches are the next ones.
"""

from ...hooks import around
from .epoch import opened
from .passes import LoaderPasses, enter
from .worst import Scan

__all__ = ["LoaderPasses", "Scan", "install", "opened"]


def install() -> None:
    """Has each iterator of a `DataLoader` made from now on count its batches."""
    around("torch.utils.data.dataloader:_BaseDataLoaderIter.__init__", enter)
