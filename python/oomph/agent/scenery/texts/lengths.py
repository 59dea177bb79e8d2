"""Notes whether the guessed number of tokens of a text mattered. See Note [Missing texts]."""

import os

from ... import records
from ...failure import guarded
from ...hooks.rows import libraries

_NAME = "text-length"
_TEXT = "the tokenizer is not on this machine, so the number of tokens of a text is a guess{most}: padding=\"max_length\" makes it certain"
_MARK = "_oomph_made"
# True once a made tokenizer encoded text without a fixed length.
_is_guessed = False
# The most tokens of a text, and the most that its tokenizer allows.
_longest = (0, 0)
# The bound of a tokenizer without one is 10 to the power of 30.
_UNBOUNDED = 10_000_000


def mark(tokenizer) -> None:
    """Marks a tokenizer, and every copy of it, as made up."""
    setattr(tokenizer, _MARK, True)


def list_records() -> list[dict]:
    """The assumption and the longest text, if lengths mattered."""
    if not _is_guessed:
        return []
    tokens, allowed = _longest[0], _longest[1] if _longest[1] < _UNBOUNDED else None
    of = "" if allowed is None else f" of {allowed:,}"
    assumption = records.assumption(id=_NAME, text=_TEXT.format(most=f", up to {tokens:,}{of}" if tokens else ""))
    return [assumption, *([records.longest_text(tokens=tokens, allowed=allowed)] if tokens else [])]


def reset() -> None:
    """Forgets the past: the parent of a forked child records it."""
    global _is_guessed, _longest
    _is_guessed, _longest = False, (0, 0)


@guarded
def _measure(tokenizer, encoded) -> None:
    """Notes the longest of the texts that a made tokenizer encoded."""
    global _longest
    if getattr(tokenizer, _MARK, False) and type(encoded.encodings) is list:
        tokens = max((len(encoding) for encoding in encoded.encodings), default=0)
        _longest = max(_longest, (tokens, int(tokenizer.model_max_length)))


def _watch(call, tokenizer, padding_strategy, *args, **kwargs):
    """Every encoding sets padding and truncation first (`PreTrainedTokenizerFast`, transformers 4.30 to 5.17)."""
    global _is_guessed
    if getattr(tokenizer, _MARK, False) and getattr(padding_strategy, "value", padding_strategy) != "max_length":
        _is_guessed = True
    return call(tokenizer, padding_strategy, *args, **kwargs)


def _encode(call, tokenizer, *args, **kwargs):
    encoded = call(tokenizer, *args, **kwargs)
    _measure(tokenizer, encoded)
    return encoded


LAYERS = {
    name: _watch if name.endswith("set_truncation_and_padding") else _encode for name in libraries.ENCODERS
}
os.register_at_fork(after_in_child=reset)
