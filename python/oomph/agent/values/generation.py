"""The length of text generation: the maximum length, because no kernel computes the token that would end a sequence earlier.

Hugging Face's `generate` asks the device after every token if all sequences have ended. The answer is computed on the device, even if the
maximum length alone decides: read as zeros, the answer would be "no" for ever, and with beams "yes" at once. Only the loops' own questions
are answered, from the length that the criteria see; the program's criteria run as they are.
"""

import functools
from collections.abc import Callable

from ..hooks import importing

_TEXT = (
    "text generation goes on to its maximum length: which tokens are chosen, and whether one ends a sequence earlier, "
    "is not computed"
)


class Generation:
    """Answers whether a generation has unfinished sequences."""

    def __init__(self, assume: Callable[[str, str], None]) -> None:
        self.assume = assume
        # True if the criteria saw sequences of the maximum length; `None` before their first call.
        self._at_end: bool | None = None

    def install(self) -> None:
        """Waits for the import of `transformers.generation`."""
        importing.after_import("transformers.generation.utils", self._install)

    def _install(self) -> None:
        from transformers.generation import utils

        utils.StoppingCriteriaList.__call__ = self._noting(utils.StoppingCriteriaList.__call__)
        mixin = utils.GenerationMixin
        if hasattr(mixin, "_has_unfinished_sequences"):
            mixin._has_unfinished_sequences = self._unless_computed(mixin._has_unfinished_sequences)
        if hasattr(mixin, "_beam_search_has_unfinished_sequences"):
            mixin._beam_search_has_unfinished_sequences = self._beams_unfinished(mixin._beam_search_has_unfinished_sequences)

    def _noting(self, criteria: Callable) -> Callable:
        @functools.wraps(criteria)
        def wrapper(this, tokens, *args, **kwargs):
            longest = this.max_length
            if tokens.is_cuda and longest is not None:
                self._at_end = tokens.shape[-1] >= longest
            return criteria(this, tokens, *args, **kwargs)

        return wrapper

    def _unless_computed(self, unfinished: Callable) -> Callable:
        """The question at the top of each round; before the first, nothing was computed."""

        @functools.wraps(unfinished)
        def wrapper(this, *args, **kwargs):
            at_end, self._at_end = self._at_end, None
            if at_end is None:
                return unfinished(this, *args, **kwargs)
            self.assume("generation-length", _TEXT)
            return not at_end

        return wrapper

    def _beams_unfinished(self, unfinished: Callable) -> Callable:
        """Answers beam search within a round: the question at the top of the loop comes after the round."""

        @functools.wraps(unfinished)
        def wrapper(*args, **kwargs):
            return unfinished(*args, **kwargs) if self._at_end is None else not self._at_end

        return staticmethod(wrapper)
