"""Tokenizers and processors that are not on this machine.

Note [Missing texts]
~~~~~~~~~~~~~~~~~~~~
A dry run needs the ids of a tokenizer to be valid, and the sizes of pictures and spectrograms to be right; it never needs the words. Where a
program loads an absent tokenizer, the library's own class is made over a vocabulary of made-up words:

- its size, and the ids of the special tokens, are those of the model's configuration; special tokens without an id there get free ids
- text is cut into tokens of at most 6 letters, 3 digits or 3 signs, about as many tokens as a trained vocabulary makes of English; each
  ordinary token has the same id
- `model_max_length` is the configuration's number of positions; a decoder without a chat template gets a short one

An absent image processor, video processor or feature extractor is the class of the model with its defaults, and with the sizes of the
configuration.

The number of tokens of a text is a guess. A program that encodes text without padding to a fixed length gets the assumption
`text-length` (`lengths`). Files that are there are always used, and each file by itself: a chat template without a vocabulary stays. Without a
configuration the library's own error reaches the program.
"""

import importlib
from collections.abc import Callable

from ...hooks.importing import after_import

# By the library's module: the module here that changes it.
_LIBRARIES = {
    "transformers.tokenization_utils_base": "tokenizers_made",
    "transformers.models.auto.tokenization_auto": "tokenizers_made",
    "transformers.tokenization_utils_tokenizers": "lengths",
    "transformers.tokenization_utils_fast": "lengths",
    "transformers.image_processing_base": "processors",
    "transformers.feature_extraction_utils": "processors",
    "transformers.video_processing_utils": "processors",
}


def wait() -> None:
    """Changes each module of the libraries when the program imports it; at once if it is imported already."""
    for library, part in _LIBRARIES.items():
        after_import(library, _changing(library, part))


def _changing(library: str, part: str) -> Callable[[], None]:
    return lambda: importlib.import_module(f".{part}", __name__).HOOKS[library]()
