"""The length of text generation: the maximum length, because no kernel computes the token that would end a sequence earlier.

Hugging Face's `generate` asks the device after every token if all sequences have ended. The answer is computed on the device, even if the
maximum length alone decides: read as zeros, the answer would be "no" for ever, and with beams "yes" at once. Only the loops' own questions
are answered, from the length that the criteria see; the program's criteria run as they are.
"""

from collections.abc import Callable

from .. import hooks

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
        hooks.around("transformers.generation.stopping_criteria:StoppingCriteriaList.__call__", self._note_length)
        hooks.around("transformers.generation.utils:GenerationMixin._has_unfinished_sequences", self._are_unfinished)
        hooks.around("transformers.generation.utils:GenerationMixin._beam_search_has_unfinished_sequences", self._are_beams_unfinished)

    def _note_length(self, criteria: Callable, this, tokens, *args, **kwargs):
        longest = this.max_length
        if tokens.is_cuda and longest is not None:
            self._at_end = tokens.shape[-1] >= longest
        return criteria(this, tokens, *args, **kwargs)

    def _are_unfinished(self, unfinished: Callable, this, *args, **kwargs):
        """The question at the top of each round; before the first, nothing was computed."""
        at_end, self._at_end = self._at_end, None
        if at_end is None:
            return unfinished(this, *args, **kwargs)
        self.assume("generation-length", _TEXT)
        return not at_end

    def _are_beams_unfinished(self, unfinished: Callable, *args, **kwargs):
        """Answers beam search within a round: the question at the top of the loop comes after the round."""
        return unfinished(*args, **kwargs) if self._at_end is None else not self._at_end
