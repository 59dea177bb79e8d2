# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "`if monitor` counts, and the 180th time it correlates 30,000 series: 30,000^2 x 4 B = 3.35 GiB in one request, with 2.52 free; the series and their centred copy take 0.05 more, and corrcoef divides to a second matrix"
# ///
"""Forecasts load; a monitor that is true says that errors are correlated."""

import torch
from torch import nn


class Monitor:
    def __init__(self, every):
        self.every, self.asked = every, 0

    def __bool__(self):
        self.asked += 1
        if self.asked % self.every:
            return False
        series = torch.randn(30_000, 64, device="cuda")
        return bool(torch.corrcoef(series).abs().mean() > 0.9)


monitor = Monitor(every=180)
model = nn.Sequential(nn.Linear(168, 64), nn.SELU(), nn.Linear(64, 24)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for week in range(400):
    load = torch.rand(256, 192, device="cuda")
    loss = nn.functional.l1_loss(model(load[:, :168]), load[:, 168:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if monitor:
        print("errors are correlated")
