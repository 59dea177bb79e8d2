# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "last-iteration"
# first_finding = ["saved-intermediates"]
# lines = [40, 42, 44]
# saves_mib = 2834
# why = "a map of 26 x 48 x 256^2 x 4 B is 312 MiB, and the trunk saves ten; the second retain_graph=True is needless and lets the last step's ten live on in depth_loss, normal_loss and shared during the next forward: 20 x 312 + 312 + small = 6666 + 410 of 6144 MiB; without it the peak is the backward's 3832"
# ///
"""Depth and surface normals from one trunk; each loss has its own backward pass through the shared graph."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, WIDTH, SIDE = 26, 48, 256


def make_trunk(depth=9):
    layers = [nn.Conv2d(3, WIDTH, 3, padding=1), nn.ReLU()]
    for _ in range(depth):
        layers += [nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers)


trunk = make_trunk().cuda()
depth_head = nn.Conv2d(WIDTH, 1, 1).cuda()
normal_head = nn.Conv2d(WIDTH, 3, 1).cuda()
parameters = [p for module in (trunk, depth_head, normal_head) for p in module.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-4)

for step in range(12):
    image = torch.randn(BATCH, 3, SIDE, SIDE, device="cuda")
    depth = torch.rand(BATCH, 1, SIDE, SIDE, device="cuda")
    normal = torch.randn(BATCH, 3, SIDE, SIDE, device="cuda")

    optimizer.zero_grad()
    shared = trunk(image)
    normal_loss = F.mse_loss(normal_head(shared), normal)
    depth_loss = F.l1_loss(depth_head(shared), depth)
    normal_loss.backward(retain_graph=True)
    depth_loss.backward(retain_graph=True)
    optimizer.step()
    print(step, normal_loss.item(), depth_loss.item())
