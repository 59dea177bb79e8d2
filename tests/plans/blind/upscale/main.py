"""Trains a super-resolution network on random crops."""
import argparse

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--bsz", type=int, default=16)
parser.add_argument("--ps", type=int, default=48, help="patch size")
parser.add_argument("--scale", type=int, default=2)
parser.add_argument("--half", action="store_true")
parser.add_argument("--iters", type=int, default=6)
cfg = parser.parse_args()


class RCAB(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(c, c, 3, 1, 1), nn.ReLU(True), nn.Conv2d(c, c, 3, 1, 1))
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(c, c // 8, 1), nn.ReLU(True),
                                  nn.Conv2d(c // 8, c, 1), nn.Sigmoid())

    def forward(self, x):
        y = self.body(x)
        return x + y * self.gate(y)


def network(c=64, blocks=16, scale=2):
    return nn.Sequential(
        nn.Conv2d(3, c, 3, 1, 1),
        *[RCAB(c) for _ in range(blocks)],
        nn.Conv2d(c, 3 * scale ** 2, 3, 1, 1),
        nn.PixelShuffle(scale),
    )


dtype = torch.bfloat16 if cfg.half else torch.float32
net = network(scale=cfg.scale).cuda().to(dtype)
opt = torch.optim.Adam(net.parameters(), lr=1e-4)
l1 = nn.L1Loss()
big = cfg.ps * cfg.scale
for it in range(cfg.iters):
    hr = torch.rand(cfg.bsz, 3, big, big)
    lr = nn.functional.avg_pool2d(hr, cfg.scale)
    sr = net(lr.cuda().to(dtype))
    loss = l1(sr, hr.cuda().to(dtype))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
print("loss", loss.item())
