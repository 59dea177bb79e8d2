# /// expect
# run = "check"
# vram = "3GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.9, 2.75]
# says = ["32,768"]
# why = "a row takes 4 KiB in, 16 for the hidden, 16 for its GELU, and 16 + 4 for gradients: 56 to 60 KiB; 131,072 rows need 7.5 GiB, 65,536 3.75, 32,768 1.88 + 0.1 for weights and 0.48, of 3"
# ///
"""Trains a feed-forward block on token states; calls itself with half of the rows and twice the accumulation."""

import torch
from torch import nn

block = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).cuda()
optimizer = torch.optim.SGD(block.parameters(), lr=0.01, momentum=0.9)


def attempt(rows, accumulate, updates):
    for _ in range(updates):
        for _ in range(accumulate):
            states = torch.randn(rows, 1024, device="cuda")
            loss = block(states).square().mean() / accumulate
            loss.backward()
            del states, loss
        optimizer.step()
        optimizer.zero_grad()


def train(rows, accumulate=1, updates=20):
    try:
        attempt(rows, accumulate, updates)
        return rows, accumulate
    except torch.OutOfMemoryError:
        print(rows, "rows are too many")
    optimizer.zero_grad()
    torch.cuda.empty_cache()
    return train(rows // 2, accumulate * 2, updates)


print("rows and accumulation", train(131_072))
