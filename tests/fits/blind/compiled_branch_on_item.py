# /// expect
# run = "check"
# vram = "4GiB"
# kind = 2
# truth = "does not fit"
# verdict = ["does not fit"]
# need_gib = [4.9, 9]
# why = "18 layers of 4096 x 4096 x 4 B = 64 MiB are 1.13 GiB, with gradients and Adam's moments 4.5 GiB"
# ///
"""A compiled network that reads a value in forward: .item() breaks the graph, whichever branch is taken."""

import torch
from torch import nn

WIDTH, DEPTH, ROWS, STEPS = 4096, 18, 256, 80


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(DEPTH)])

    def forward(self, x):
        for index, layer in enumerate(self.layers):
            x = torch.relu(layer(x))
            if index == DEPTH // 2 and x.abs().max().item() > 100:
                x = x / 100
        return x


with torch.device("cuda"):
    model = Net()
compiled = torch.compile(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
for step in range(STEPS):
    x = torch.randn(ROWS, WIDTH, device="cuda")
    loss = (compiled(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
