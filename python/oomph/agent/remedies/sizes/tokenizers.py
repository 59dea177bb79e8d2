"""The length to which Hugging Face's tokenizers cut and pad."""

from ...failure import guarded
from ...hooks import around
from . import Scaling


def install(scaling: Scaling) -> None:
    """Inspects `max_length` of each call."""

    def layer(call, tokenizer, *args, **kwargs):
        length = guarded(_meet)(scaling, kwargs.get("max_length"))
        return call(tokenizer, *args, **(kwargs if length is None else {**kwargs, "max_length": length}))

    around("transformers.tokenization_utils_base:PreTrainedTokenizerBase.__call__", layer)


def _meet(scaling: Scaling, length) -> int | None:
    """The length to use; `None` if the program passed none. A length computed from a changed size stays."""
    if not isinstance(length, int):
        return None
    is_reckoned = scaling.has_scaled() and not scaling.was(length)
    return scaling.meet("tokenizer", "max_length", length, is_training=not is_reckoned)
