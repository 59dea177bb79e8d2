# /// expect
# run = "check"
# vram = "6GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "stale-gradients"
# no_finding = ["gradients-alive-in-forward"]
# why = "the trunk of 28 x 4096 x 4096 x 4 B = 1792 MiB has no gradients during the forward, in which the point net saves 21 tensors of 524288 x 64 x 4 B = 128 MiB: about 4850 of 5734 MiB at the start of backward; with stale gradients 1792 more"
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

    optimizer.zero_grad(set_to_none=True)
    distance = (model(code) - cloud).square().sum(dim=-1)
    loss = distance.mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
