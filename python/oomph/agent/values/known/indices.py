"""Indices that a network would have chosen.

Note [Assumed indices]
~~~~~~~~~~~~~~~~~~~~~~
`argmax`, `max(dim)`, `topk` and `multinomial` of unknown numbers choose among classes, experts, tokens or actions. The indices are assumed:
drawn evenly, so that experts share the tokens and classes the samples. Of `_MANY` choices or more, the first and the last sixteenth are
left out: the ends of a vocabulary hold the end of the text, padding, and other tokens with a meaning for programs. An untrained
network hardly ever chooses these tokens, so texts reach the requested length.

The draw depends on the shapes alone, and the draw of `multinomial` on the state of the device's generator as well: a recomputation makes the
same choices. Operators compute with assumed indices as with known values (Note [Known values] in `store`).
"""

import torch

TEXT = (
    "choices that only a GPU would have computed (argmax, max, topk, multinomial) were drawn evenly from all but the first and the last "
    "sixteenth of the choices"
)

_MANY = 64
# Larger tensors of indices stay unknown.
MOST_INDICES = 1 << 20


def pick_each(choices: int, shape: torch.Size, seed: int = 0) -> torch.Tensor:
    """An index below `choices` for each element of a shape."""
    left_out = _left_out(choices, 1)
    return torch.randint(left_out, choices - left_out, shape, generator=_generator(seed), device="cpu")


def pick_distinct(choices: int, shape: torch.Size, *, dim: int, seed: int = 0) -> torch.Tensor:
    """Indices below `choices` that differ along a dimension."""
    if not shape:
        return torch.zeros((), dtype=torch.int64, device="cpu")
    count = shape[dim]
    left_out = _left_out(choices, count)
    first = torch.randint(choices, [1 if place == dim % len(shape) else size for place, size in enumerate(shape)], generator=_generator(seed), device="cpu")
    ranks = torch.arange(count, device="cpu").view(-1, *[1] * ((len(shape) - 1 - dim) % len(shape)))
    return left_out + (first + ranks) % (choices - 2 * left_out)


def _left_out(choices: int, count: int) -> int:
    """The choices at either end that are left out; none if fewer than `count` choices would remain."""
    left_out = choices // 16 if choices >= _MANY else 0
    return left_out if choices - 2 * left_out >= count else 0


def _generator(seed: int) -> torch.Generator:
    return torch.Generator(device="cpu").manual_seed(seed % (1 << 63))
