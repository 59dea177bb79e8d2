# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "from step 220 on a batch has 400,000 rows: hidden and GELU take 400,000 x 1024 x 4 B = 1.53 GiB each, of 1.52 free beside the context"
# ///
"""Fraud autoencoder with a batch ramp read from a plan, as large-batch recipes have it."""

import torch
import torch.nn.functional as F
from torch import nn

PLAN = {0: 512, 110: 2048, 220: 400_000}


class Autoencoder(nn.Module):
    def __init__(self, columns=128, hidden=1024):
        super().__init__()
        self.encode = nn.Linear(columns, hidden)
        self.decode = nn.Linear(hidden, columns)

    def forward(self, rows):
        return self.decode(F.gelu(self.encode(rows)))


model = Autoencoder().to("cuda")
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
rows = PLAN[0]
for step in range(330):
    rows = PLAN.get(step, rows)
    batch = torch.rand(rows, 128, device="cuda")
    loss = F.mse_loss(model(batch), batch)
    loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=True)
