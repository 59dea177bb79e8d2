# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# grows = false
# why = "the ring holds 8 frames of 4096 x 2048 x 2 x 4 B = 64 MiB: 0.5 GiB, and the stack of all of them the same again; 200 frames would be 12.5 GiB"
# ///
"""Temporal median of a camera stream over the last eight frames, kept in a ring."""

from collections import deque

import torch

HEIGHT, WIDTH, CHANNELS, RING, FRAMES = 4096, 2048, 2, 8, 200

ring = deque(maxlen=RING)
for frame in range(FRAMES):
    ring.append(torch.rand(CHANNELS, HEIGHT, WIDTH, device="cuda"))
    background = torch.stack(list(ring)).mean(0)
    moving = (ring[-1] - background).abs()
print("moving", moving.mean().item())
