# /// expect
# run = "check"
# vram = "10GiB"
# kind = 2
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.5, 6.5]
# why = "131,072 tokens x 512 x 4 B = 0.25 GiB; the expert's hidden layer takes at most all of them, 1 GiB, twice with GELU and once or twice more in backward"
# ///
"""Mixture of depths under torch.compile: only tokens whose gate is positive pass through the feed-forward block."""

import torch
from torch import nn

TOKENS, WIDTH, LAYERS, STEPS = 131072, 512, 1, 3


class Depth(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(WIDTH, 1)
        self.block = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        gate = self.gate(x).squeeze(-1)
        chosen = torch.nonzero(gate > 0).squeeze(-1)
        update = self.block(x[chosen]) * gate[chosen, None].sigmoid()
        return x.index_add(0, chosen, update)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(*[Depth() for _ in range(LAYERS)], nn.Linear(WIDTH, 32)).cuda()
    compiled = torch.compile(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for _ in range(STEPS):
        x = torch.randn(TOKENS, WIDTH, device="cuda")
        loss = compiled(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


main()
