# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "from step 280 on 1,048,576 collocation points: each of three tanh outputs of width 256 is 1 GiB, all saved, with 2.52 free"
# ///
"""Physics-informed network for the heat equation; the last stage refines on a dense cloud of points."""

import torch
from torch import nn

net = nn.Sequential(
    nn.Linear(3, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 1)
).cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)


def source(p):
    return torch.sin(p[:, :1]) * torch.cos(p[:, 1:2]) * torch.exp(-p[:, 2:])


for step in range(300):
    match step // 70:
        case 0 | 1:
            points = 1 << 8
        case 2 | 3:
            points = 1 << 10
        case _:
            points = 1 << 20
    cloud = torch.rand(points, 3, device="cuda")
    residual = net(cloud) - source(cloud)
    optimizer.zero_grad()
    residual.square().mean().backward()
    optimizer.step()
