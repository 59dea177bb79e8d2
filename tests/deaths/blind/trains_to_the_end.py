# /// expect
# run = "run"
# vram = "4GiB"
# ends = "ok"
# status = 0
# steps = 10
# ///
"""Trains ten steps with 2 GiB in use and ends normally: nothing to explain."""

import torch
from torch import nn

frozen = torch.zeros(512, 1024, 1024, device="cuda")
probe = nn.Sequential(nn.LayerNorm(1024), nn.Linear(1024, 1)).cuda()
optimizer = torch.optim.AdamW(probe.parameters(), lr=3e-4)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4)
for step in range(10):
    optimizer.zero_grad()
    nn.functional.softplus(probe(frozen[step])).mean().backward()
    optimizer.step()
    scheduler.step()
print("peak", torch.cuda.max_memory_allocated() >> 20, "MiB, trained", scheduler.last_epoch, "steps")
