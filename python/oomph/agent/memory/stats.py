"""The allocator's counters, with the largest peaks ever, whatever the program resets."""

import torch

from .. import hooks, records
from ..failure import guarded
from ..hooks import events


class Stats:
    """Reads `memory_stats` cheaply: straight from the allocator, seven figures of it."""

    # Of a real run, for `oomph.callbacks`.
    running: "Stats | None" = None

    def __init__(self) -> None:
        # Per device: the largest allocated and reserved peaks seen at a reset.
        self._peaks: dict[int, tuple[int, int]] = {}
        # Per device: how many allocations and frees were counted before the counts were reset.
        self._counted: dict[int, int] = {}
        # True if the allocator in use keeps counters; a `CUDAPluggableAllocator` keeps none.
        self._are_kept = True

    def attach(self) -> None:
        """CUDA is initialised: whether there are counters can be seen."""
        try:
            torch._C._cuda_memoryStats(0)
        except RuntimeError:
            self._are_kept = False

    def install(self) -> None:
        """Keeps the counts that a reset clears; all of torch's `reset_*` functions end in these four."""
        for prefix, middle in (("_cuda", "Memory"), ("_accelerator", "")):
            for kind, note in (("Peak", self._note_peaks), ("Accumulated", self._note_position)):
                hooks.around(f"torch._C:{prefix}_reset{kind}{middle}Stats", events.before(note))

    def position(self, device: int) -> int:
        """The number of allocations and frees of one device since the program began. See Note [Positions]."""
        counts = torch._C._cuda_memoryStats(device)["allocation"]["all"]
        return counts["allocated"] + counts["freed"] + self._counted.get(device, 0)

    def of(self, device: int) -> dict:
        """The `DeviceStats` of one device."""
        raw = torch._C._cuda_memoryStats(device)
        allocated, reserved = raw["allocated_bytes"]["all"], raw["reserved_bytes"]["all"]
        before = self._peaks.get(device, (0, 0))
        return records.device_stats(
            device=device,
            allocated_bytes=allocated["current"],
            allocated_peak_bytes=max(allocated["peak"], before[0]),
            reserved_bytes=reserved["current"],
            reserved_peak_bytes=max(reserved["peak"], before[1]),
            alloc_retries=raw["num_alloc_retries"],
            ooms=raw["num_ooms"],
            inactive_split_bytes=raw["inactive_split_bytes"]["all"]["current"],
        )

    def of_all(self) -> list[dict]:
        """The statistics of the used devices; empty before CUDA is initialised, or if the allocator keeps no counters."""
        if not torch.cuda.is_initialized() or not self._are_kept:
            return []
        every = [self.of(device) for device in range(torch.cuda.device_count())]
        return [stats for stats in every if stats["reserved_peak_bytes"] or stats["ooms"]]

    @guarded
    def _note_position(self, device: int) -> None:
        if torch.cuda.is_initialized() and self._are_kept:
            self._counted[device] = self.position(device)

    @guarded
    def _note_peaks(self, device: int) -> None:
        if torch.cuda.is_initialized():
            stats = self.of(device)
            self._peaks[device] = (stats["allocated_peak_bytes"], stats["reserved_peak_bytes"])
