# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "stale-gradients"
# first_finding = ["gradients-alive-in-forward"]
# lines = [49, 48]
# saves_mib = 1674
# why = "the trunk has 28 x 4096 x 4096 x 4 B = 1792 MiB and gradients as large, cleared only after the next forward; the point net saves 21 tensors of 524288 x 64 x 4 B = 128 MiB, 2688 MiB, and the trunk some 230: 6500 of 5734 MiB in the second forward; cleared before the forward the gradients come when the point net's tensors are gone, and the peak is the start of backward, 4860: 6534 - 4860 = 1674"
# ///
"""Decodes shape codes into point clouds: a heavy trunk per shape, a light net per point."""

import torch
from torch import nn

SHAPES, POINTS, CODE, WIDTH = 256, 2048, 4096, 64


class PointDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        with torch.device("cuda"):
            self.trunk = nn.ModuleList(nn.Linear(CODE, CODE, bias=False) for _ in range(28))
            self.expand = nn.Linear(CODE, 64)
            self.grid = nn.Parameter(torch.randn(POINTS, WIDTH))
            self.points = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(10))
            self.xyz = nn.Linear(WIDTH, 3)

    def forward(self, code):
        for layer in self.trunk:
            code = code + torch.tanh(layer(code))
        x = self.expand(code)[:, None, :] * self.grid[None]
        for layer in self.points:
            x = nn.functional.softplus(layer(x))
        return self.xyz(x)


model = PointDecoder()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(5):
    code = torch.randn(SHAPES, CODE, device="cuda")
    cloud = torch.randn(SHAPES, POINTS, 3, device="cuda")

    distance = (model(code) - cloud).square().sum(dim=-1)
    loss = distance.mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
