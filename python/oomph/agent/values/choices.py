"""Stand-ins for operators that choose: Note [Assumed indices] in `known.indices`."""

import functools
from collections import Counter
from collections.abc import Callable
from types import FrameType

import torch

from ..hooks.kernels import Original
from ..phantom import Phantom
from .known import indices, philox
from .known.computing import Computing
from .known.entries import CHOICE
from .known.store import KnownValues

# Reads of a line until a loop ends that waits there.
_PATIENCE = 2048
_ONE_OF_MANY = ("argmax", "argmin", "max.dim", "min.dim")


class Choices:
    """The stand-ins. `run_inside` runs a kernel whose reads belong to the operator."""

    def __init__(self, phantom: Phantom, known: KnownValues, computing: Computing, run_inside: Callable) -> None:
        self._phantom = phantom
        self._known = known
        self._computing = computing
        self._run_inside = run_inside

    def stand_ins(self) -> dict[str, Callable]:
        """By operator."""
        ones = {name: functools.partial(self._choose, name) for name in _ONE_OF_MANY}
        return {"topk": self._topk, "multinomial": self._draw_indices, **ones}

    def _topk(self, original: Original, tensor, count, dim=-1, *args, **kwargs):
        values, found = self._computing.call_quietly(original, tensor, count, dim, *args, **kwargs)
        self._computing.compute_all((values, found), "topk", tensor, count, dim, *args, **kwargs)
        if tensor.dim():
            self._assume_indices(found, indices.pick_distinct, tensor.size(dim), dim=dim)
        return values, found

    def _choose(self, name: str, original: Original, tensor, *args, **kwargs):
        """One index along a dimension, or of all elements."""
        result = self._computing.call_quietly(original, tensor, *args, **kwargs)
        self._computing.compute_all(result, name, tensor, *args, **kwargs)
        found = result if isinstance(result, torch.Tensor) else result[1]
        if tensor.numel() and tensor.dim():
            dim = args[0] if args else kwargs.get("dim")
            choices = tensor.numel() if dim is None else tensor.size(dim)
            self._assume_indices(found, indices.pick_each, choices)
        return result

    def _draw_indices(self, original: Original, tensor, count, replacement=False, *, generator=None):
        seed = 0 if torch.cuda.is_current_stream_capturing() else sum(philox.read_state(tensor, generator)[:2])
        with self._phantom.answering(1):
            found = self._run_inside(self._computing.call_quietly, original, tensor, count, replacement, generator=generator)
        self._known.forget(found)
        if replacement or count == 1:
            self._assume_indices(found, indices.pick_each, tensor.size(-1), seed=seed)
        else:
            self._assume_indices(found, indices.pick_distinct, tensor.size(-1), seed=seed, dim=-1)
        return found

    def _assume_indices(self, found: torch.Tensor, pick: Callable, choices: int, **options: int) -> None:
        """Assumes values of chosen indices, if nothing is known of them. What draws them later must not keep a tensor of the device alive."""
        if 0 < found.numel() <= indices.MOST_INDICES and self._known.operand(found) is None:
            self._known.assume(found, functools.partial(pick, choices, found.size(), **options), CHOICE)


class Patience:
    """Ends loops that wait for a choice, such as the end of a text: a boolean with always the same answer in one line is negated at times."""

    def __init__(self) -> None:
        self._reads: Counter[tuple[str, int]] = Counter()

    def answer(self, value, asking: FrameType | None):
        """The value for a read by `asking`."""
        if not isinstance(value, bool) or asking is None:
            return value
        line = asking.f_code.co_filename, asking.f_lineno
        self._reads[line] += 1
        return not value if self._reads[line] % _PATIENCE == 0 else value
