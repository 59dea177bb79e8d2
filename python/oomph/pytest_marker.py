"""The marker `gpu_memory`: its arguments, and what they forbid."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any

import pytest

from .checking import Check

__all__ = ["MARKER", "Limit", "read_marker"]

MARKER = "gpu_memory"
_FIGURES = ("reserved", "allocated")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_EXAMPLE = f'@pytest.mark.{MARKER}(limit="10GiB", gpu="l4")'


@dataclass(frozen=True)
class Limit:
    """The limit of a test. Without a size, the GPU's memory is the limit."""

    text: str | None
    bytes: int | None
    of: str
    options: list[str]

    def find_problem(self, check: Check) -> str | None:
        """The sentence about a test that takes too much."""
        if check.fits is False:
            return f"{MARKER}: the test {check.summary}"
        peak = {"reserved": check.peak_reserved_bytes, "allocated": check.peak_allocated_bytes}[self.of]
        if self.bytes is None or peak <= self.bytes:
            return None
        from .watching import write_size

        figures = f"{write_size(peak)} {self.of} at the peak"
        return f"{MARKER}: {figures}, {write_size(peak - self.bytes)} above the limit of {self.text}"


def read_marker(item: pytest.Item) -> Limit:
    """Reads the marker of a test. Raises `ValueError` with a sentence and a hint for a wrong argument."""
    marker = item.get_closest_marker(MARKER)
    assert marker is not None
    try:
        given = inspect.signature(_accept).bind(*marker.args, **marker.kwargs).arguments
    except TypeError as error:
        raise ValueError(f"{error}; expected limit=, gpu=, of= or timeout=\nhint: {_EXAMPLE}") from None
    limit, of = given.get("limit"), given.get("of", "reserved")
    if of not in _FIGURES:
        raise ValueError(f'of={of!r} is not a figure; expected "reserved" or "allocated"\nhint: {_EXAMPLE}')
    gpu = given.get("gpu") or item.config.getini("oomph_gpu")
    timeout = given.get("timeout")
    options = [*([f"--gpu={gpu}"] if gpu else []), *([f"--timeout={timeout}"] if timeout is not None else [])]
    size = None if limit is None else _read_size(limit)
    return Limit(None if limit is None else str(limit), size, of, options)


def _accept(limit: Any = None, gpu: Any = None, of: Any = "reserved", timeout: Any = None) -> None:
    """The arguments of the marker."""


def _read_size(limit: object) -> int:
    """The bytes of a limit: a number of bytes, or a text as `oomph check --vram` reads it, where `GB` is 1000³ and `G` 1024³."""
    if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
        return limit
    found = _SIZE.fullmatch(limit.strip()) if isinstance(limit, str) else None
    if found is None or float(found[1]) == 0:
        raise ValueError(f"limit={limit!r} is not a size; expected such as \"10GiB\" or \"500MiB\"\nhint: {_EXAMPLE}")
    number, letter, binary = found[1], found[2].lower(), found[3]
    is_decimal = not binary and isinstance(limit, str) and limit.strip().lower().endswith("b")
    return int(float(number) * (1000 if is_decimal else 1024) ** _POWERS[letter])


