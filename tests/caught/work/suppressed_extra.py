# /// expect
# run = "check"
# vram = "12GiB"
# verdict = ["does not fit"]
# line = 28
# requested_bytes = 17179869184
# caught_line = 39
# then = "went on"
# why = "optional extras of a training loop (previews, nearest neighbours, plots) in contextlib.suppress, so that they never stop the training"
# ///
"""Trains an embedding; after each epoch it tries to print the nearest neighbours of the whole bank."""

import contextlib

import torch
from torch import nn

BANK, WIDTH = 65536, 512

bank = torch.randn(BANK, WIDTH, device="cuda")
model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)


@torch.no_grad()
def print_neighbours():
    embedded = nn.functional.normalize(model(bank), dim=1)
    similarity = embedded @ embedded.T
    print("neighbours of the first item:", similarity[0].topk(5).indices.tolist())


for epoch in range(5):
    rows = bank[epoch * 4096 : (epoch + 1) * 4096]
    loss = (model(rows) - rows).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    with contextlib.suppress(torch.OutOfMemoryError):
        print_neighbours()

print("trained")
