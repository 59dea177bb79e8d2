# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "last-iteration"
# first_finding = ["saved-intermediates"]
# lines = [24, 39]
# saves_mib = 2048
# why = "a volume is 512 x 1024 x 1024 x 4 B = 2048 MiB; the name `volume` still holds the one of the last angle step while reconstruct() allocates the next: 4096 + 410 of 4096 MiB"
# ///
"""Back-projects a tomogram for several angle steps and compares their contrast."""

import torch

DEPTH, SIDE = 512, 1024


def projections(angles):
    return torch.rand(angles, SIDE, SIDE, device="cuda")


def reconstruct(angles, tilt_step):
    volume = torch.zeros(DEPTH, SIDE, SIDE, device="cuda")
    for number, projection in enumerate(projections(angles)):
        shift = int(number * tilt_step)
        volume[shift % DEPTH].add_(projection)
        volume[(2 * shift) % DEPTH].add_(projection, alpha=0.5)
    return volume


def contrast(volume):
    means = torch.stack([plane.mean() for plane in volume[:: DEPTH // 16]])
    return (means.max() - means.min()).item()


results = {}
for tilt_step in (1.0, 1.5, 2.0, 3.0):
    volume = reconstruct(angles=40, tilt_step=tilt_step)
    results[tilt_step] = contrast(volume)

for tilt_step, value in results.items():
    print(f"{tilt_step:.1f} degrees: {value:.4f}")
