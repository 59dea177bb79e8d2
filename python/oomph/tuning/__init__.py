"""The needs of a search's configurations, found before a trial touches a GPU (docs/tuners.md).

`Needs` asks `oomph.check` once for each configuration. `oomph.tuning.optuna` and `oomph.tuning.ray_tune` connect a tuner, and import its library;
the package itself imports neither library::

    from oomph.tuning import Needs
    from oomph.tuning.optuna import prune_if_too_large

    needs = Needs(["train.py", "--batch", "{batch}"], gpu="rtx-4090")
"""

from .need import Need, Needs

__all__ = ["Need", "Needs"]
