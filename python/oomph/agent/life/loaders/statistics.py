"""Sizes of batches as their samples tell them, for batches that are not collated."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .sizes import Part, Size, count_elements


@dataclass(frozen=True)
class Statistic:
    """The samples of a batch: padded to the largest, in a row, and the longest."""

    padded: int
    packed: int
    longest: int
    # True if the figures are letters in place of tokens.
    is_guess: bool = False


KEYS = ("padded", "packed", "longest")


def of_lengths(lengths: Sequence[int], is_guess: bool) -> Statistic:
    """The statistic of samples by their lengths."""
    longest = max(lengths, default=0)
    return Statistic(len(lengths) * longest, sum(lengths), longest, is_guess)


def of_samples(samples: Iterable[tuple[Part, ...]]) -> Statistic:
    """The statistic of samples, by their parts: by the tensors and numbers in them, or by the texts of samples without numbers."""
    shapes: dict[tuple[str, int], list[tuple[int, ...]]] = {}
    padded = packed = longest = 0
    parts = [part for sample in samples for part in sample]
    is_guess = any(part.is_text for part in parts) and not any(part.shape and not part.is_text for part in parts)
    for part in parts:
        if is_guess or not part.is_text:
            shapes.setdefault((part.name, len(part.shape)), []).append((part.width, *part.shape))
            packed += part.bytes
            longest = max(longest, *part.shape, 0)
    for found in shapes.values():
        padded += len(found) * count_elements(tuple(map(max, zip(*found))))
    return Statistic(padded, packed, longest, is_guess)


def find_telling(statistics: dict[int, Statistic], sizes: dict[int, Size]) -> str | None:
    """The key that puts the collated batches into the order of their bytes, without a contradiction; `None` without such a key, or for guesses."""
    if any(it.is_guess for it in statistics.values()):
        return None
    for key in KEYS:
        rows = sorted((getattr(statistics[at], key), size.bytes) for at, size in sizes.items() if at in statistics)
        if rows and all(a[1] == b[1] if a[0] == b[0] else a[1] <= b[1] for a, b in zip(rows, rows[1:])):
            return key
    return None


def list_top(statistics: dict[int, Statistic], key: str, count: int, now: int) -> list[int]:
    """The positions with the largest values, one for each value: the next from `now` on, if there is one."""
    found: dict[int, int] = {}
    for at in sorted(statistics, key=lambda at: (-getattr(statistics[at], key), at < now, at)):
        found.setdefault(getattr(statistics[at], key), at)
        if len(found) > count:
            break
    return list(found.values())[:count]
