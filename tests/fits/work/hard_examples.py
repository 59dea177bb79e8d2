# /// expect
# run = "check"
# vram = "5GiB"
# kind = 3
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [46, 48, 49]
# need_gib = [6.2, 8.5]
# open = "line 24, expected 42 or 44 or 45"
# why = "16 tanh outputs of 16,384 hard rows x 4096 x 4 B = 0.25 GiB are kept: 4 GiB; weights 1 GiB, the pool 0.5 GiB, gradients on the way 0.5 GiB"
# ///
"""Online hard example mining: most of each pool is skipped; when nothing is hard the whole pool is."""

import torch
from torch import nn

POOL, HARD, WIDTH, DEPTH, STEPS = 32768, 16384, 4096, 16, 100


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH, bias=False, device="cuda") for _ in range(DEPTH)])
        self.out = nn.Linear(WIDTH, 1, device="cuda")

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).tanh()
        return self.out(x).squeeze(-1)


def errors(model, x, y):
    return nn.functional.binary_cross_entropy_with_logits(model(x), y, reduction="none")


model = Tower()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(STEPS):
    x = torch.randn(POOL, WIDTH, device="cuda")
    y = torch.randint(2, (POOL,), device="cuda").float()
    with torch.no_grad():
        losses = errors(model, x, y)
    if losses.max().item() < 1e-3:
        continue
    hardest = losses.topk(HARD).indices
    loss = errors(model, x[hardest], y[hardest]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
