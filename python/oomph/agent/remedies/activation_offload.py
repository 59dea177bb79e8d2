"""activation-offload: what autograd saves in a model's forward waits for backward in pinned host memory."""

import torch
from torch.autograd.graph import save_on_cpu

from . import Remedy
from .models import around_forward


def install(remedy: Remedy) -> None:
    """`save_on_cpu` around each call of a model that records a graph."""
    roots: set[str] = set()

    def run(root: torch.nn.Module, forward):
        roots.add(type(root).__name__)
        remedy.applied(f"save_on_cpu(pin_memory=True) around {type(root).__name__}")
        with save_on_cpu(pin_memory=True):
            return forward()

    def finish() -> None:
        if not roots:
            remedy.rejected("no model ran while autograd records: nothing is saved", at=("", 0))

    around_forward(run)
    remedy.at_end.append(finish)
