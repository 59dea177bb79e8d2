"""The needs of a search's configurations, found before a trial touches a GPU (docs/tuners.md).

`Needs` asks `oomph.check` once for each configuration. `oomph.tuning.optuna` and `oomph.tuning.ray_tune` give the answers to a tuner; each imports
its library, and this package imports none::

    from oomph.tuning import Needs
    from oomph.tuning.optuna import prune_if_too_large

    needs = Needs(["train.py", "--batch", "{batch}"], gpu="rtx-4090")
"""

from .need import Need, Needs

__all__ = ["Need", "Needs"]
