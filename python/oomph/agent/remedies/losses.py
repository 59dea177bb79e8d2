"""The reduction of a loss over its batch, a mean or a sum, read from autograd's graph."""

import torch

# `Reduction::Sum` in aten/src/ATen/core/Reduction.h.
_SUM = 2
# Nodes that programs add after the reduction: the node before them decides.
_PASSING = tuple(f"{name}Backward" for name in ("Add", "Sub", "Mul", "Neg", "ToCopy", "View", "Squeeze", "Alias", "Stack"))


def is_sum(loss: torch.Tensor) -> bool:
    """True if the loss is a sum over the batch, or adds several such sums; a sum divided by anything counts as a mean."""
    kinds = set(_reductions(loss.grad_fn))
    return kinds == {"sum"}


def _reductions(node):
    """`sum` or `other` for each reduction that a loss ends in. The sum of a stack is that of several losses."""
    while node is not None:
        name = node.name()
        before = [function for function, _ in node.next_functions if function is not None]
        is_stack = name.startswith("SumBackward") and before and before[0].name().startswith("StackBackward")
        if not is_stack and (name.startswith("SumBackward") or getattr(node, "_saved_reduction", None) == _SUM):
            yield "sum"
            return
        if not is_stack and not name.startswith(_PASSING):
            yield "other"
            return
        for function in before[1:]:
            yield from _reductions(function)
        node = before[0] if before else None
