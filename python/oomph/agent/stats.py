"""The allocator's counters, with the largest peaks ever, whatever the program resets."""

import torch

from .failure import guarded


class Stats:
    """Reads `memory_stats` cheaply: straight from the allocator, six figures of it."""

    def __init__(self) -> None:
        # Per device: the largest allocated and reserved peaks seen at a reset.
        self._peaks: dict[int, tuple[int, int]] = {}

    def install(self) -> None:
        """Notes the peaks before each reset; all of torch's `reset_*` functions end in these two."""
        for name in ("_cuda_resetPeakMemoryStats", "_accelerator_resetPeakStats"):
            reset = getattr(torch._C, name, None)
            if reset is not None:
                setattr(torch._C, name, self._noting(reset))

    def of(self, device: int) -> dict:
        """The `DeviceStats` of one device."""
        raw = torch._C._cuda_memoryStats(device)
        allocated, reserved = raw["allocated_bytes"]["all"], raw["reserved_bytes"]["all"]
        before = self._peaks.get(device, (0, 0))
        return {
            "device": device,
            "allocated_bytes": allocated["current"],
            "allocated_peak_bytes": max(allocated["peak"], before[0]),
            "reserved_bytes": reserved["current"],
            "reserved_peak_bytes": max(reserved["peak"], before[1]),
            "alloc_retries": raw["num_alloc_retries"],
            "ooms": raw["num_ooms"],
        }

    def of_all(self) -> list[dict]:
        """Those of the devices that have been used; none before CUDA is initialised."""
        if not torch.cuda.is_initialized():
            return []
        every = [self.of(device) for device in range(torch.cuda.device_count())]
        return [stats for stats in every if stats["reserved_peak_bytes"] or stats["ooms"]]

    @guarded
    def _note(self, device: int) -> None:
        if torch.cuda.is_initialized():
            stats = self.of(device)
            self._peaks[device] = (stats["allocated_peak_bytes"], stats["reserved_peak_bytes"])

    def _noting(self, reset):
        def wrapper(device):
            self._note(device)
            return reset(device)

        return wrapper
