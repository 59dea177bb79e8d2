# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "the function that atexit calls joins all pairs of 1,500 anchors and 1,500 items of width 256: 1500 x 1500 x 256 x 4 B = 2.15 GiB, with 1.52 free"
# ///
"""Metric learning for fabrics; the table of differences is exported when the program ends."""

import atexit

import torch
from torch import nn

anchor, item = (nn.Embedding(1_500, 256).cuda() for _ in range(2))
optimizer = torch.optim.Adagrad([anchor.weight, item.weight], lr=0.05)


@atexit.register
def export():
    table = anchor.weight.detach().unsqueeze(1) * item.weight.detach().unsqueeze(0)
    torch.save(table.sum(dim=2).cpu(), "fabrics.pt")


for _ in range(130_000):
    ids = torch.randint(1_500, (3, 128), device="cuda")
    near = (anchor(ids[0]) - item(ids[1])).norm(dim=1)
    far = (anchor(ids[0]) - item(ids[2])).norm(dim=1)
    loss = (near - far + 0.2).clamp(min=0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
