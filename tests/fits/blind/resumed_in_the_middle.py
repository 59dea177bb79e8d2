# /// expect
# run = "check"
# vram = "6GiB"
# kind = 3
# truth = "fits"
# verdict = ["fits"]
# need_gib = [1.6, 4.2]
# why = "passes over 100 batches without work, then equal steps: 32 x 16 x 512 x 512 x 4 B = 0.5 GiB for an activation, its gradient and one more"
# ///
"""Resumes in the middle of an epoch: batches before the stored step are drawn and passed over."""

import torch
from torch import nn

BATCH, SIDE, CHANNELS, STORED, STEPS = 32, 512, 16, 100, 103


class Batches:
    def __iter__(self):
        for step in range(STEPS):
            yield step, torch.full((BATCH,), step)


model = nn.Sequential(nn.Conv2d(3, CHANNELS, 3, padding=1), nn.Tanh(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(CHANNELS, 1)).cuda()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)
for step, seeds in Batches():
    if step < STORED:
        scheduler.step()
        continue
    images = torch.rand(BATCH, 3, SIDE, SIDE, device="cuda") + seeds.cuda()[:, None, None, None] / STEPS
    loss = model(images).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
