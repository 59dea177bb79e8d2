"""chunked-cross-entropy: the loss of a language model, a part of its tokens at a time.

Note [Chunked losses]
~~~~~~~~~~~~~~~~~~~~~
Between the hidden states of N tokens and their loss lie tensors of N × vocabulary: the logits, their logarithms of softmax (kept
for backward), and a gradient of each. The remedy cuts in two places:

- A causal model of transformers computes its logits and its loss in one forward. Its output layer and its `loss_function`
  are run together on a part of the tokens at a time, in a checkpoint: no tensor has more than a part of the tokens.
  `outputs.logits` is then `None`: the logits are never whole.
- Where the program itself calls `cross_entropy` on logits, the logits exist already. Logits and their gradient
  stay whole; the other tensors are saved (`ChunkedCrossEntropy`).
"""

import torch

from ..hooks import around
from ..hooks.replacing import Layer
from . import Remedy
from .actions import chunk_loss
from .language_models import Head, heads
from .models import before_training


def install(remedy: Remedy) -> None:
    """Installs the remedy. `chunks=N`: the number of parts; default 8."""
    chunks = remedy.settings.get("chunks", 8)
    if not isinstance(chunks, int) or chunks < 2:
        return remedy.rejected(f"chunks={chunks}: expected a number from 2")
    before_training(lambda root, _is_compiled: _change_heads(remedy, root, chunks))
    around("torch.nn.functional:cross_entropy", _chunk(remedy, chunks))


def _change_heads(remedy: Remedy, root: torch.nn.Module, chunks: int) -> None:
    for head in heads(root):
        problem = head.problem()
        if problem is None:
            head.chunk(chunks, remedy.applied)
        else:
            remedy.rejected(f"{head.name}: {problem}")


def _chunk(remedy: Remedy, chunks: int) -> Layer:
    def layer(whole, input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
        problem = _problem(input, target, weight, size_average, reduce, reduction)
        if Head.is_inside or problem is not None:
            if not Head.is_inside:
                remedy.rejected(f"cross_entropy {problem}")
            return whole(input, target, weight, size_average, ignore_index, reduce, reduction, label_smoothing)
        text = f"cross_entropy of {input.shape[0]} × {input.shape[1]} logits in {chunks} chunks"
        remedy.applied(text, action=chunk_loss(chunks))
        return ChunkedCrossEntropy.apply(input, target, chunks, whole, ignore_index, reduction, label_smoothing)

    return layer


def _problem(logits, target, weight, size_average, reduce, reduction) -> str | None:
    """Why a call cannot be cut into chunks."""
    if logits.dim() != 2:
        return f"has logits of {logits.dim()} dimensions, expected 2: tokens and classes"
    if target.is_floating_point():
        return "has probabilities for a target, expected indices of classes"
    if weight is not None or size_average is not None or reduce is not None:
        return "has weights of classes, or an argument that PyTorch has deprecated"
    return None if reduction in ("mean", "sum") else f"has reduction={reduction!r}, expected a mean or a sum"


class ChunkedCrossEntropy(torch.autograd.Function):
    """`cross_entropy` that keeps logits and targets, and computes its softmax a second time in backward."""

    @staticmethod
    def forward(ctx, logits, target, chunks, cross_entropy, ignore_index, reduction, label_smoothing):
        """The sum of the chunks' losses, divided by the number of targets that count if it is a mean."""
        parts = zip(logits.chunk(chunks), target.chunk(chunks))
        settings = {"ignore_index": ignore_index, "reduction": "sum", "label_smoothing": label_smoothing}
        loss = sum(cross_entropy(part, targets, **settings) for part, targets in parts)
        count = (target != ignore_index).sum() if reduction == "mean" else torch.ones((), device=loss.device)
        ctx.save_for_backward(logits, target, count)
        ctx.settings = chunks, ignore_index, label_smoothing
        return loss / count

    @staticmethod
    def backward(ctx, gradient):
        """Softmax less the target's distribution, times the gradient."""
        logits, target, count = ctx.saved_tensors
        chunks, ignore_index, smoothing = ctx.settings
        result = torch.empty_like(logits)
        for part, targets, into in zip(logits.chunk(chunks), target.chunk(chunks), result.chunk(chunks)):
            into.copy_(_difference(part, targets, ignore_index, smoothing).mul_(gradient / count))
        return result, None, None, None, None, None, None


def _difference(logits, targets, ignore_index: int, smoothing: float) -> torch.Tensor:
    """Softmax less the target's distribution; zeros where the target does not count."""
    soft = torch.softmax(logits, 1, dtype=torch.float32)
    if smoothing:
        soft -= smoothing / logits.shape[1]
    soft.scatter_add_(1, targets.clamp(min=0).unsqueeze(1), soft.new_full((len(targets), 1), smoothing - 1.0))
    return soft.mul_((targets != ignore_index).unsqueeze(1))
