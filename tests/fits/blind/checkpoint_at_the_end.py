# /// expect
# run = "check"
# vram = "6GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits", "fits so far"]
# says_so_far = ["not run", "checkpoint_at_the_end.py:38"]
# need_gib = [1.4, 3.2]
# why = "200 equal steps: weights 4 x 4096 x 4096 x 4 B = 0.25 GiB four times; the checkpoint at the end goes to the host and needs none"
# ///
"""Trains for two hundred equal steps and saves a checkpoint at the end."""

import tempfile
from pathlib import Path

import torch
from torch import nn

WIDTH, DEPTH, BATCH, STEPS = 4096, 4, 256, 200


def train():
    with torch.device("cuda"):
        model = nn.Sequential(*[nn.Linear(WIDTH, WIDTH) for _ in range(DEPTH)])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        x = torch.randn(BATCH, WIDTH, device="cuda")
        loss = nn.functional.smooth_l1_loss(model(x), x.flip(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model, optimizer


model, optimizer = train()
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "last.pt"
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    print("saved", path.stat().st_size, "bytes")
