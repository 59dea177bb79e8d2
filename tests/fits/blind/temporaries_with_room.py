# /// expect
# run = "check"
# vram = "24GiB"
# kind = 14
# truth = "fits"
# verdict = ["fits"]
# not_says = ["temporaries", "optimizer", "so far"]
# need_gib = [1.4, 3.8]
# why = "weights 6 x 4096 x 4096 x 4 B = 0.38 GiB four times, foreach temporaries 0.38 GiB: over 20 GiB to spare"
# ///
"""A small job on a large GPU: AdamW's temporaries do not matter here."""

import torch
from torch import nn

WIDTH, DEPTH, BATCH, STEPS = 4096, 6, 256, 3


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(*[nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(DEPTH)])
        self.value = nn.Linear(WIDTH, 1)

    def forward(self, x):
        return self.value(self.body(x)).squeeze(-1)


with torch.device("cuda"):
    model = Regressor()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(STEPS):
    x = torch.randn(BATCH, WIDTH, device="cuda")
    loss = (model(x) - x.mean(1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
