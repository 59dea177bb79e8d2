"""The output layers of transformers' causal language models, and their losses in chunks. See Note [Chunked losses]."""

import functools
import inspect
import sys
from collections.abc import Callable

import torch
from torch.utils.checkpoint import checkpoint

from .actions import chunk_head

# Changes of some models to their logits between the output layer and the loss, and the value with which nothing changes.
_BETWEEN = {"final_logit_softcapping": None, "logit_scale": None, "logits_scaling": 1}


def heads(root: torch.nn.Module) -> list["Head"]:
    """The causal language models at or below `root`."""
    transformers = sys.modules.get("transformers.modeling_utils")
    if transformers is None:
        return []
    models = (module for module in root.modules() if isinstance(module, transformers.PreTrainedModel))
    return [Head(model) for model in models if type(model).__name__.endswith(("ForCausalLM", "LMHeadModel"))]


class Head:
    """The output layer and the loss of one model."""

    # True while the loss of a chunk is computed.
    is_inside = False

    def __init__(self, model) -> None:
        self.name = type(model).__name__
        self._model = model
        self._layer = model.get_output_embeddings()
        self._whole_loss = model.loss_function

    def problem(self) -> str | None:
        """Why it cannot be cut into chunks."""
        for name, neutral in _BETWEEN.items():
            if getattr(self._model.config, name, neutral) not in (neutral, None):
                return f"{name} changes the logits before the loss"
        if "self.loss_function(" not in inspect.getsource(type(self._model).forward):
            return "its forward has a loss of its own"
        if getattr(self._whole_loss, "__name__", "") != "ForCausalLMLoss":
            return "its loss is not that of a causal language model"
        return None if self._layer is not None else "it has no output layer"

    def chunk(self, chunks: int, note: Callable[..., None]) -> None:
        """From now on a forward that is given labels, and records a graph, computes its loss in chunks."""
        whole = self._model.forward
        names = list(inspect.signature(whole).parameters)

        @functools.wraps(whole)
        def forward(*args, **kwargs):
            labels = {**dict(zip(names, args)), **kwargs}.get("labels")
            if labels is None or not torch.is_grad_enabled():
                return whole(*args, **kwargs)
            note(f"{self.name}: output layer and loss in {chunks} chunks", action=chunk_head(self.name, chunks))
            return self._forward(whole, chunks, args, kwargs)

        self._model.forward = forward

    def _forward(self, whole: Callable, chunks: int, args: tuple, kwargs: dict):
        """The output layer does nothing, so the loss is given the hidden states."""
        own = self._layer.__dict__.get("forward")
        self._layer.forward = lambda hidden: hidden

        def loss(logits, labels, vocab_size, **settings):
            self._restore(own)
            return self._loss(chunks, logits, labels, vocab_size, **settings)

        self._model.loss_function = loss
        try:
            outputs = whole(*args, **kwargs)
        finally:
            self._restore(own)
            self._model.loss_function = self._whole_loss
        return type(outputs)(**{**outputs, "logits": None})

    def _restore(self, own: Callable | None) -> None:
        if own is not None:
            self._layer.forward = own
        else:
            self._layer.__dict__.pop("forward", None)

    def _loss(self, chunks, hidden, labels, vocab_size, num_items_in_batch=None, ignore_index=-100, shift_labels=None, **settings):
        """As `ForCausalLMLoss` does in transformers 5.17 (loss/loss_utils.py): a token is predicted by those before it."""
        if shift_labels is None:
            shift_labels = torch.nn.functional.pad(labels, (0, 1), value=ignore_index)[..., 1:].contiguous()
        targets = shift_labels.view(-1).to(hidden.device)
        count = (targets != ignore_index).sum() if num_items_in_batch is None else num_items_in_batch
        settings |= {"vocab_size": vocab_size, "num_items_in_batch": count, "ignore_index": ignore_index}
        part = functools.partial(self._part, settings)
        parts = zip(hidden.reshape(-1, hidden.shape[-1]).chunk(chunks), targets.chunk(chunks))
        return sum(checkpoint(part, states, wanted, use_reentrant=False) for states, wanted in parts)

    def _part(self, settings: dict, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        Head.is_inside = True
        try:
            return self._whole_loss(self._layer(hidden), None, shift_labels=targets, **settings)
        finally:
            Head.is_inside = False
