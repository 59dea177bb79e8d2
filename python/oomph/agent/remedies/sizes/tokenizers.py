"""The length to which Hugging Face's tokenizers cut and pad."""

import functools
import sys

from ...failure import guarded
from ...hooks.importing import after_import
from . import Scaling

_MODULE = "transformers.tokenization_utils_base"


def install(scaling: Scaling) -> None:
    """Inspects `max_length` of each call."""
    after_import(_MODULE, lambda: _watch(scaling))


def _watch(scaling: Scaling) -> None:
    owner = sys.modules[_MODULE].PreTrainedTokenizerBase
    call = owner.__call__

    @functools.wraps(call)
    def wrapper(self, *args, **kwargs):
        length = guarded(_meet)(scaling, kwargs.get("max_length"))
        return call(self, *args, **(kwargs if length is None else {**kwargs, "max_length": length}))

    owner.__call__ = wrapper


def _meet(scaling: Scaling, length) -> int | None:
    """The length to use; `None` if the program passed none. A length computed from a changed size stays."""
    if not isinstance(length, int):
        return None
    is_reckoned = scaling.has_scaled() and not scaling.was(length)
    return scaling.meet("tokenizer", "max_length", length, is_training=not is_reckoned)
