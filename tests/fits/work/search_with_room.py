# /// expect
# run = "check"
# vram = "12GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits"]
# need_gib = [1.0, 4.2]
# why = "the search may begin at 64 images, which need 64 x 32 x 256 x 256 x 4 B = 0.5 GiB, five times at most: nothing is refused"
# ///
"""A binary search for the largest batch below a ceiling; the ceiling itself fits, so it ends at once."""

import torch
from torch import nn

SIDE, CHANNELS, CEILING, STEPS = 256, 32, 64, 60

model = nn.Sequential(nn.Conv2d(3, CHANNELS, 3, padding=1), nn.ReLU(), nn.Conv2d(CHANNELS, 3, 3, padding=1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def step(batch_size):
    x = torch.rand(batch_size, 3, SIDE, SIDE, device="cuda")
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x).backward()
    optimizer.step()


def fits(batch_size):
    try:
        step(batch_size)
    except torch.cuda.OutOfMemoryError:
        return False
    finally:
        torch.cuda.empty_cache()
    return True


low, high = 1, CEILING + 1
if fits(CEILING):
    low = CEILING
while high - low > 1:
    middle = (low + high) // 2
    low, high = (middle, high) if fits(middle) else (low, middle)
for _ in range(STEPS):
    step(low)
