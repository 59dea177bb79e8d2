# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["save"]
# form = "loop over map, step & mask"
# need_gib = [2.6, 3.2]
# why = "eight layers of 8,192 x 8,192 x 4 B = 0.25 GiB; one is trained at a time, with a gradient of 0.25 GiB; the export casts one after the other to halves of 128 MiB, whose first rows go to the host"
# ///
"""Trains block by block; every 1,024 updates an export in half precision, one layer at a time."""

import torch
from torch import nn

blocks = nn.ModuleList(nn.Linear(8192, 8192, bias=False, device="cuda") for _ in range(8))
optimizer = torch.optim.SGD(blocks.parameters(), lr=1e-3)


def export():
    for name, weight in blocks.named_parameters():
        half = weight.detach().half()
        yield name, half[:64].cpu()


for update in map(int, range(1, 2100)):
    block = blocks[update % 8]
    x = torch.randn(4, 8192, device="cuda")
    loss = (block(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update & 1023 == 0:
        print(update, [name for name, _ in export()])
