"""Notes whether the guessed number of tokens of a text mattered. See Note [Missing texts]."""

import functools
import os
import sys

from ... import records
from ...failure import guarded
from ..outside import acts

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


def _watch(module: str, kind: str) -> None:
    """Every encoding sets padding and truncation first (`PreTrainedTokenizerFast`, transformers 4.30 to 5.17)."""
    tokenizer_class = getattr(sys.modules[module], kind)

    def watching(original):
        def set_truncation_and_padding(self, padding_strategy, *args, **kwargs):
            global _is_guessed
            if getattr(self, _MARK, False) and getattr(padding_strategy, "value", padding_strategy) != "max_length":
                _is_guessed = True
            return original(self, padding_strategy, *args, **kwargs)

        return set_truncation_and_padding

    def measuring(original):
        @functools.wraps(original)
        def encode(self, *args, **kwargs):
            encoded = original(self, *args, **kwargs)
            _measure(self, encoded)
            return encoded

        return encode

    acts.replace(tokenizer_class, "set_truncation_and_padding", watching)
    for name in ("_encode_plus", "_batch_encode_plus"):
        if name in vars(tokenizer_class):
            acts.replace(tokenizer_class, name, measuring)


HOOKS = {
    "transformers.tokenization_utils_tokenizers": lambda: _watch("transformers.tokenization_utils_tokenizers", "TokenizersBackend"),
    "transformers.tokenization_utils_fast": lambda: _watch("transformers.tokenization_utils_fast", "PreTrainedTokenizerFast"),
}
os.register_at_fork(after_in_child=reset)
