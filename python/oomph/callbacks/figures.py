"""The figures that the callbacks log, named as `oomph run --log-to` names them."""

from __future__ import annotations

import sys
import warnings
from collections import deque
from typing import Any

# The number of last readings from which the growth is estimated, and the fewest, as in `crates/diagnose/src/measure/pace.rs`.
_READINGS, _FEWEST = 64, 4


class MemoryMeter:
    """Reads the memory of the current GPU. A failure is one warning, and no figures from then on."""

    def __init__(self) -> None:
        self._is_off = False
        # The memory that PyTorch can reserve: free at the first reading, and reserved by then.
        self._usable: int | None = None
        self._peak = self._reserved_peak = 0
        self._after: deque[tuple[int, int]] = deque(maxlen=_READINGS)

    def read(self, step: int) -> dict[str, int]:
        """The figures after a step; empty without a GPU."""
        if self._is_off:
            return {}
        import torch

        if not torch.cuda.is_available():
            self.turn_off("no GPU is in use, so no memory is logged")
            return {}
        try:
            return self._measure(torch, step)
        except (RuntimeError, KeyError) as error:
            # An error of CUDA, or an allocator without counters.
            self.turn_off(f"the memory of the GPU cannot be read, so none is logged: {_describe(error)}")
            return {}

    def turn_off(self, why: str) -> None:
        """Warns, once, and ends the reading."""
        if not self._is_off:
            warnings.warn(f"oomph: {why}", RuntimeWarning, stacklevel=3)
        self._is_off = True

    def _measure(self, torch: Any, step: int) -> dict[str, int]:
        device = torch.cuda.current_device()
        stats = torch.cuda.memory_stats(device)
        allocated, reserved = stats["allocated_bytes.all.current"], stats["reserved_bytes.all.current"]
        self._note_peaks(device, stats["allocated_bytes.all.peak"], stats["reserved_bytes.all.peak"])
        if self._usable is None:
            self._usable = torch.cuda.mem_get_info(device)[0] + reserved
        self._after.append((step, allocated))
        return {
            "oomph/allocated_bytes": allocated,
            "oomph/reserved_bytes": reserved,
            "oomph/cache_bytes": reserved - allocated,
            "oomph/peak_bytes": self._peak,
            "oomph/spare_bytes": max(0, self._usable - self._reserved_peak),
            "oomph/growth_bytes_per_step": estimate_growth(list(self._after)),
        }

    def _note_peaks(self, device: int, allocated: int, reserved: int) -> None:
        """Keeps the largest peaks, whatever the program resets. Under `oomph run` also those that a reset took between two readings."""
        recorded = getattr(sys.modules.get("_oomph_agent.memory.stats"), "Stats", None)
        running = getattr(recorded, "running", None)
        if running is not None:
            known = running.of(device)
            allocated, reserved = known["allocated_peak_bytes"], known["reserved_peak_bytes"]
        self._peak, self._reserved_peak = max(self._peak, allocated), max(self._reserved_peak, reserved)


def estimate_growth(after: list[tuple[int, int]]) -> int:
    """The bytes by which a step grows: the median of the slopes between any two readings; 0 unless three in four slopes rise."""
    if len(after) < _FEWEST:
        return 0
    pairs = ((one, other) for number, other in enumerate(after) for one in after[:number])
    slopes = sorted((other[1] - one[1]) // (other[0] - one[0]) for one, other in pairs if other[0] > one[0])
    if not slopes or slopes[len(slopes) // 4] <= 0:
        return 0
    return slopes[len(slopes) // 2]


def _describe(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
