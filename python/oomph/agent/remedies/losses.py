"""What a loss is over its batch: a mean or a sum. Read off autograd's graph, which says what was computed."""

import torch

# `Reduction::Sum` in aten/src/ATen/core/Reduction.h.
_SUM = 2
# Nodes with which programs go on after the reduction: what is before them decides.
_PASSING = tuple(f"{name}Backward" for name in ("Add", "Sub", "Mul", "Neg", "ToCopy", "View", "Squeeze", "Alias", "Stack"))


def is_sum(loss: torch.Tensor) -> bool:
    """Whether the loss is a sum over the batch, or several such added up; a sum that is divided by something counts as a mean."""
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
