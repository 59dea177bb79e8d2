"""The counts in which two programs are compared, and the words in which a page states the difference."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """A number of a program, computed by `of` from the counts of all its ranks."""

    of: Callable[[list[dict]], int | str]
    # The words after the difference on the page of a rule.
    words: str


def _sum(name: str) -> Callable[[list[dict]], int]:
    return lambda ranks: sum(rank[name] for rank in ranks)


def _last(name: str) -> Callable[[list[dict]], int]:
    """Returns the count after the last step."""
    return lambda ranks: sum(rank[name][-1] for rank in ranks)


def _growth(name: str) -> Callable[[list[dict]], int]:
    """Returns the growth per step, which must be constant; the first and the last step are left out."""

    def of(ranks: list[dict]) -> int:
        (rank,) = ranks
        inner = rank[name][:-1]
        steps = {after - before for before, after in zip(inner, inner[1:])}
        assert len(steps) == 1 and len(inner) > 2, f"expected the same growth with each step, found {rank[name]}"
        return steps.pop()

    return of


def _error(ranks: list[dict]) -> str:
    return next((rank["error"].partition(":")[0] for rank in ranks if rank["error"]), "")


MEASURES = {
    "peak": Measure(_sum("peak"), "bytes more at the peak"),
    "end": Measure(_last("after"), "bytes more after the last step"),
    "growth": Measure(_growth("after"), "bytes more with each step"),
    "host growth": Measure(_growth("host_after"), "bytes more of host memory with each step"),
    "host end": Measure(_last("host_after"), "bytes more of host memory after the last step"),
    "reserved": Measure(_sum("reserved"), "bytes more reserved"),
    "mallocs": Measure(_sum("mallocs"), "more calls of `cudaMalloc`"),
    "forks": Measure(_sum("forks"), "more processes started"),
    "collections": Measure(_sum("collections"), "more full collections"),
    "history": Measure(_sum("history"), "more entries in the history"),
    "profiled": Measure(_sum("profiled"), "more steps kept"),
    "stacks": Measure(_sum("stacks"), "stacks kept as text"),
    "error": Measure(_error, ""),
}


def state_difference(measure: str, difference: int | str) -> str:
    """Returns the difference as the page of the rule states it."""
    return f"`{difference}`" if isinstance(difference, str) else f"{difference:,} {MEASURES[measure].words}"
