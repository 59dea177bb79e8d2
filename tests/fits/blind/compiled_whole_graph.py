# /// expect
# run = "check"
# vram = "8GiB"
# kind = 2
# truth = "fits"
# verdict = ["fits"]
# need_gib = [1.2, 5.6]
# why = "5 layers keep 32,768 x 1024 x 4 B = 0.13 GiB each, at most five times; weights 10 x 4 MiB"
# ///
"""One loss function compiled with fullgraph=True, with three equal steps."""

import torch
import torch.nn.functional as F
from torch import nn

ROWS, WIDTH, DEPTH, STEPS = 32768, 1024, 5, 3


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(WIDTH)
        self.gate, self.up = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        h = self.norm(x)
        return x + F.silu(self.gate(h)) * self.up(h)


@torch.compile(fullgraph=True)
def objective(model, x, y):
    return F.mse_loss(model(x), y)


model = nn.Sequential(*[Block() for _ in range(DEPTH)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(STEPS):
    x, y = torch.randn(2, ROWS, WIDTH, device="cuda")
    loss = objective(model, x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
