"""Notes whether the guessed number of tokens of a text mattered. See Note [Missing texts]."""

import os
import sys

from ... import records
from ..outside import acts

_NAME = "text-length"
_TEXT = "the tokenizer is not on this machine, so the number of tokens of a text is a guess: padding=\"max_length\" makes it certain"
_MARK = "_oomph_made"
# True once a made tokenizer encoded text without a fixed length.
_is_guessed = False


def mark(tokenizer) -> None:
    """Marks a tokenizer, and every copy of it, as made up."""
    setattr(tokenizer, _MARK, True)


def list_records() -> list[dict]:
    """The assumption, if lengths mattered."""
    return [records.assumption(id=_NAME, text=_TEXT)] if _is_guessed else []


def reset() -> None:
    """Forgets the past: the parent of a forked child records it."""
    global _is_guessed
    _is_guessed = False


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

    acts.replace(tokenizer_class, "set_truncation_and_padding", watching)


HOOKS = {
    "transformers.tokenization_utils_tokenizers": lambda: _watch("transformers.tokenization_utils_tokenizers", "TokenizersBackend"),
    "transformers.tokenization_utils_fast": lambda: _watch("transformers.tokenization_utils_fast", "PreTrainedTokenizerFast"),
}
os.register_at_fork(after_in_child=reset)
