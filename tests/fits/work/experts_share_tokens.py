# /// expect
# run = "check"
# vram = "12GiB"
# kind = 6
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [3.2, 9.0]
# why = "16 experts share 65,536 tokens: all hidden layers together are 65,536 x 4096 x 4 B = 1 GiB, twice with GELU, once more in backward; half of the tokens for each would be 16 GiB"
# ///
"""A switch transformer layer: every token goes to the one expert that the router prefers."""

import torch
from torch import nn

TOKENS, WIDTH, HIDDEN, EXPERTS, STEPS = 65536, 1024, 4096, 16, 3


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, HIDDEN)
        self.down = nn.Linear(HIDDEN, WIDTH)

    def forward(self, x):
        return self.down(nn.functional.gelu(self.up(x)))


class SwitchLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS)
        self.experts = nn.ModuleList([Expert() for _ in range(EXPERTS)])

    def forward(self, x):
        weight, choice = self.router(x).softmax(-1).max(-1)
        out = torch.zeros_like(x)
        for index, expert in enumerate(self.experts):
            mine = choice == index
            out[mine] = expert(x[mine]) * weight[mine, None]
        return out


with torch.device("cuda"):
    layer = SwitchLayer()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for step in range(STEPS):
    x = torch.randn(TOKENS, WIDTH, device="cuda")
    loss = (layer(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
