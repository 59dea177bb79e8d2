# /// expect
# run = "check"
# vram = "12GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits"]
# need_gib = [3.0, 9.0]
# why = "a quarter of what mem_get_info says is free, about 2.9 GiB, is given to the rows; they are kept once and once more as activations"
# ///
"""Chooses the batch from torch.cuda.mem_get_info, a quarter of what is free; nothing is ever refused."""

import torch
from torch import nn

WIDTH, SHARE, STEPS = 4096, 4, 25


def rows_for(bytes_of_row):
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total
    return free // SHARE // bytes_of_row


def main():
    model = nn.Sequential(nn.Linear(WIDTH, 256), nn.ReLU(), nn.Linear(256, 1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    rows = rows_for(WIDTH * 4)
    for _ in range(STEPS):
        x = torch.randn(rows, WIDTH, device="cuda")
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        del x


main()
