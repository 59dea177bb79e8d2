# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "activations"
# first_finding = ["batch-too-large", "need-exceeds-device", "one-huge-request"]
# lines = [27, 29, 38, 41, 39]
# why = "three batches have 4,096 rows, the last 400,000: each of three hidden maps is 400,000 x 1024 x 4 B = 1.53 GiB, 4.6 GiB saved and more, with 3.52 free; weights and Adam's state are under 50 MiB"
# ///
"""One pass over a census table: batches of 4,096 rows, and the rest goes last."""

import torch
from torch import nn

ROWS, BATCH, FULL = 412_288, 4_096, 3


class Census(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(64, 1024)
        self.middle = nn.ModuleList(nn.Linear(1024, 1024) for _ in range(2))
        self.leave = nn.Linear(1024, 1)

    def forward(self, x):
        x = torch.tanh(self.enter(x))
        for layer in self.middle:
            x = torch.tanh(layer(x))
        return self.leave(x)


table = torch.randn(ROWS, 64)
parts = table.split([BATCH] * FULL + [ROWS - FULL * BATCH])
model = Census().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for part in parts:
    income = model(part.cuda())
    loss = income.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
