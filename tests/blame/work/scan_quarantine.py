# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "exception"
# first_finding = ["exception-holds-frames"]
# lines = [31, 35, 36, 47, 48]
# why = "a scan without spacing leaves resample()'s frame with its volume of 256 x 512 x 512 x 4 B = 256 MiB and the smoothed one of 256 MiB in the stored exception's traceback: 512 MiB each; after nine of 16 they are 4608 MiB, and the next scan has no 256 left of 4710; a scan by itself needs 0.6 GiB"
# ///
"""Resamples an archive of MR scans; those that cannot be resampled are put aside with their error."""

from dataclasses import dataclass

import torch
from torch.nn import functional as F


@dataclass
class Scan:
    name: str
    spacing: float | None


def archive(count):
    for number in range(count):
        yield Scan(f"scan-{number:03d}", None if number % 2 else 1.2)


def load(scan):
    return torch.randn(1, 1, 256, 512, 512, device="cuda")


def resample(scan):
    volume = load(scan)
    smooth = F.avg_pool3d(volume, 3, stride=1, padding=1)
    if scan.spacing is None:
        raise ValueError(f"{scan.name} has no spacing")
    return F.interpolate(smooth, scale_factor=0.5 / scan.spacing).mean().item()


def main():
    means, quarantine = {}, []
    for scan in archive(32):
        try:
            means[scan.name] = resample(scan)
        except ValueError as error:
            quarantine.append((scan, error))
    print(len(means), "resampled")
    for scan, error in quarantine:
        print(scan.name, error)


main()
