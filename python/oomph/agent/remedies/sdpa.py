"""sdpa: attention whose matrix of scores, every position times every other, is never stored.

Note [Which attention]
~~~~~~~~~~~~~~~~~~~~~~
There are three kinds. A model of transformers takes `attn_implementation`; the effect of `"eager"` is decided when the model is made.
`torch.nn.MultiheadAttention` stores the scores only to return them, unless called with `need_weights=False`. Attention written by the
program itself as `softmax(q @ k) @ v` has no switch: its line is reported, and unchanged.
"""

import functools
import sys
import weakref

import torch

from ..hooks import after_import, around
from ..hooks.replacing import Layer
from ..process import frames
from . import Remedy
from .actions import set_argument

# The number of operations between product and softmax: a scale, a mask, a change of type.
_NEAR = 8


def install(remedy: Remedy) -> None:
    """Replaces eager attention by SDPA. See Note [Which attention]."""
    remedy.otherwise = "no model of transformers is made, no MultiheadAttention runs, and no softmax of a product is seen"
    after_import("transformers.modeling_utils", lambda: _switch_transformers(remedy))
    around("torch.nn.modules.activation:MultiheadAttention.forward", _without_weights(remedy))
    for name in ("torch:softmax", "torch.nn.functional:softmax", "torch._tensor:Tensor.softmax"):
        around(name, _note_product(remedy))


def _switch_transformers(remedy: Remedy) -> None:
    if not hasattr(sys.modules["transformers.modeling_utils"].PreTrainedModel, "_check_and_adjust_attn_implementation"):
        return remedy.rejected("this version of transformers chooses its attention elsewhere; 4.54 and later are known", at=("", 0))
    # Models inside a model share its configuration: the attention of all is chosen once.
    told: dict[int, weakref.ref] = {}

    def layer(adjust, model, asked, *args, **kwargs):
        known = told.get(id(model.config))
        if known is not None and known() is model.config:
            return adjust(model, asked, *args, **kwargs)
        told[id(model.config)] = weakref.ref(model.config)
        return _choose(remedy, model, asked, functools.partial(adjust, model), *args, **kwargs)

    around("transformers.modeling_utils:PreTrainedModel._check_and_adjust_attn_implementation", layer)


def _choose(remedy: Remedy, model, asked: str | None, adjust, *args, **kwargs) -> str:
    name = type(model).__name__
    chosen = adjust(asked, *args, **kwargs)
    if chosen != "eager":
        remedy.rejected(f"the attention of {name} is {chosen} already")
    elif getattr(model.config, "output_attentions", False):
        remedy.rejected(f"{name} is asked for its attention weights (output_attentions), which SDPA does not compute")
    elif not model._supports_sdpa:
        remedy.rejected(f"{name} has no SDPA attention in transformers")
    else:
        remedy.applied(f'attn_implementation="sdpa" for {name}', action=set_argument(name, "attn_implementation", '"sdpa"'))
        return adjust("sdpa", *args, **kwargs)
    return chosen


def _without_weights(remedy: Remedy) -> Layer:
    def layer(forward, attention, query, key, value, key_padding_mask=None, need_weights=True, *args, **kwargs):
        if need_weights:
            action = set_argument("MultiheadAttention", "need_weights", "False")
            remedy.applied("MultiheadAttention(..., need_weights=False)", action=action)
        return forward(attention, query, key, value, key_padding_mask, False, *args, **kwargs)

    return layer


def _note_product(remedy: Remedy) -> Layer:
    """Tells of attention that is written out in the program."""

    def layer(softmax, scores, *args, **kwargs):
        caller = frames.skip_agents(sys._getframe())
        if caller is not None and frames.is_users(caller.f_code.co_filename) and _is_product(scores):
            remedy.rejected("attention is written out here, as a softmax of a product: there is no switch; scaled_dot_product_attention does the same")
        return softmax(scores, *args, **kwargs)

    return layer


def _is_product(scores: torch.Tensor) -> bool:
    """True if this is a batch of matrices that were multiplied a few operations ago."""
    node = scores.grad_fn if scores.dim() > 2 else None
    for _ in range(_NEAR):
        if node is None or node.name().startswith(("BmmBackward", "BaddbmmBackward")):
            break
        node = next((before for before, _ in node.next_functions if before is not None), None)
    return node is not None and node.name().startswith(("BmmBackward", "BaddbmmBackward"))
