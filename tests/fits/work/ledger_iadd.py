# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "the 150th `ledger += embedding` makes all products of features, 4096 x 512 x 512 x 4 B = 4 GiB in one request, with 2.52 free"
# ///
"""Fits a soil embedding and keeps moments of it in a ledger."""

import torch
from torch import nn


class Ledger:
    def __init__(self):
        self.count, self.mean, self.second = 0, 0.0, None

    def __iadd__(self, rows):
        self.count += 1
        self.mean = self.mean + rows.mean(0)
        if self.count % 150 == 0:
            self.second = (rows[:, :, None] * rows[:, None, :]).mean(0).cpu()
        return self


ledger = Ledger()
soil = nn.Sequential(nn.Linear(20, 512), nn.Tanh()).cuda()
decode = nn.Linear(512, 20).cuda()
optimizer = torch.optim.SGD([*soil.parameters(), *decode.parameters()], lr=0.1, momentum=0.8)
for sample in range(320):
    x = torch.randn(4096, 20, device="cuda")
    embedding = soil(x)
    optimizer.zero_grad()
    nn.functional.mse_loss(decode(embedding), x).backward()
    optimizer.step()
    ledger += embedding.detach()
