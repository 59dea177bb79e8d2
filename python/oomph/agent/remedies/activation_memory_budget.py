"""activation-memory-budget: the compiler keeps a part of the activations that it would keep for backward, and computes the others again.

`torch._functorch.config.activation_memory_budget` is read by the partitioner of forward and backward (PyTorch 2.11,
torch/_functorch/partitioners.py, `min_cut_rematerialization_partition`): 1 keeps all that it would keep without the setting, 0 keeps the
inputs of a graph alone. With `probe=true` the remedy only tells whether the program compiles.
"""

import sys

from ..hooks import after_import, put
from . import Remedy


def install(remedy: Remedy) -> None:
    """Sets the budget, unless the program's own code sets it later."""
    remedy.otherwise = "the program compiles nothing"
    budget = remedy.settings.get("budget")
    if budget is not None:
        part = float(budget)
        after_import("torch._functorch.config", lambda: put("torch._functorch.config:activation_memory_budget", part))
    remedy.at_end.append(lambda: _tell(remedy, budget))


def _tell(remedy: Remedy, budget: object) -> None:
    dynamo = sys.modules.get("torch._dynamo.utils")
    graphs = dynamo.counters["stats"]["unique_graphs"] if dynamo is not None else 0
    if graphs:
        remedy.applied(f"activation_memory_budget = {budget} for {graphs} compiled graphs", at=("", 0))
