# /// expect
# run = "check"
# vram = "3GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "exception"
# no_finding = ["exception-holds-frames"]
# why = "only the text of an error is stored; a scan needs 2 x 256 MiB for volume and smoothed volume, and its result is small: under 600 MiB at a time"
# ///
"""Resamples an archive of MR scans; those that cannot be resampled are put aside with the text of their error."""

from dataclasses import dataclass

import torch
from torch.nn import functional as F


@dataclass
class Scan:
    name: str
    spacing: float | None


class Resampler:
    def __init__(self):
        self.means, self.quarantine = {}, {}

    def load(self, scan):
        return torch.randn(1, 1, 256, 512, 512, device="cuda")

    def resample(self, scan):
        volume = self.load(scan)
        smooth = F.avg_pool3d(volume, 3, stride=1, padding=1)
        if scan.spacing is None:
            raise ValueError(f"{scan.name} has no spacing")
        return F.interpolate(smooth, scale_factor=0.5 / scan.spacing).mean().item()

    def __call__(self, scan):
        try:
            self.means[scan.name] = self.resample(scan)
        except ValueError as error:
            self.quarantine[scan.name] = str(error)


resampler = Resampler()
for number in range(12):
    resampler(Scan(f"scan-{number:03d}", None if number % 2 else 1.2))
print(resampler.means, resampler.quarantine)
