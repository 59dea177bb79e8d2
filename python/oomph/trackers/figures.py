"""Names the figures of a line of metrics as trackers show them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

PREFIX = "oomph/"
# The key of a line's device, and the name of the figure.
_OF_DEVICE = {
    "allocated_bytes": "allocated_bytes",
    "reserved_bytes": "reserved_bytes",
    "cache_bytes": "cache_bytes",
    "allocated_peak_bytes": "peak_bytes",
    "need_bytes": "need_bytes",
    "spare_bytes": "spare_bytes",
    "growth_per_step_bytes": "growth_bytes_per_step",
}


@dataclass(frozen=True)
class Figures:
    """The figures of one process at one moment."""

    # Seconds since 1970.
    time: float
    # The completed optimizer steps.
    step: int
    numbers: dict[str, float] = field(default_factory=dict)
    # The phase of the last allocation.
    texts: dict[str, str] = field(default_factory=dict)


@dataclass
class Names:
    """The names of processes. The first process of rank 0 has no prefix, so that its curves have one name in jobs of any size."""

    first_pids: dict[int, int] = field(default_factory=dict)

    def prefix_of(self, rank: int, pid: int) -> str:
        """The prefix of a process."""
        is_first = self.first_pids.setdefault(rank, pid) == pid
        return PREFIX + (f"rank{rank}/" if rank else "") + ("" if is_first else f"pid{pid}/")


def read_figures(line: dict[str, Any], names: Names) -> Figures | None:
    """The figures of a line; `None` before the process uses a GPU."""
    if not line["devices"]:
        return None
    prefix = names.prefix_of(line["rank"], line["pid"])
    found = Figures(line["time"], line["steps"])
    found.numbers[prefix + "steps"] = line["steps"]
    if "step_seconds" in line:
        found.numbers[prefix + "step_seconds"] = line["step_seconds"]
    if "phase" in line:
        found.texts[prefix + "phase"] = line["phase"]
    for device in line["devices"]:
        start = prefix + (f"device{device['device']}/" if len(line["devices"]) > 1 else "")
        # No growth is a growth of 0: a curve with gaps looks as if nothing was known.
        known = {"growth_per_step_bytes": 0} | device
        found.numbers.update({start + name: known[key] for key, name in _OF_DEVICE.items() if known.get(key) is not None})
    return found
