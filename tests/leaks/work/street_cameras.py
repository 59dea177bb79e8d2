# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = false
# why = "six entries of 8 x 1024 x 1024 x 4 B = 32 MiB are replaced over 240 frames; then a mosaic of 6 x 8 x 8192 x 4096 x 4 B = 6 GiB is requested"
# ///
"""The newest feature map of each of six cameras, and at the end one enlarged mosaic of all cameras."""

import torch
import torch.nn.functional as F

CAMERAS, CHANNELS, SIDE, FRAMES = 6, 8, 1024, 240


class Street:
    def __init__(self):
        self.latest = {}

    def see(self, camera):
        self.latest[camera] = torch.rand(CHANNELS, SIDE, SIDE, device="cuda").sqrt()

    def mosaic(self):
        maps = torch.stack([self.latest[camera] for camera in sorted(self.latest)])
        return F.interpolate(maps, size=(8 * SIDE, 4 * SIDE), mode="nearest")


street = Street()
for frame in range(FRAMES):
    street.see(frame % CAMERAS)
print(tuple(street.mosaic().shape))
