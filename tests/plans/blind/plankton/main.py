"""Trains a residual network on random plankton pictures."""
import argparse

import torch
from torch import nn

DEPTHS = {"small": (2, 2, 2), "medium": (3, 4, 3)}


class Bottleneck(nn.Module):
    def __init__(self, cin, mid, stride):
        super().__init__()
        cout = 4 * mid
        self.main = nn.Sequential(
            nn.Conv2d(cin, mid, 1, bias=False), nn.GroupNorm(8, mid), nn.ReLU(),
            nn.Conv2d(mid, mid, 3, stride, 1, bias=False), nn.GroupNorm(8, mid), nn.ReLU(),
            nn.Conv2d(mid, cout, 1, bias=False), nn.GroupNorm(8, cout))
        self.side = nn.Conv2d(cin, cout, 1, stride) if cin != cout or stride > 1 else nn.Identity()

    def forward(self, x):
        return torch.relu(self.main(x) + self.side(x))


def resnet(depths, classes):
    layers, cin = [nn.Conv2d(1, 64, 5, 2, 2), nn.ReLU()], 64
    for i, depth in enumerate(depths):
        for j in range(depth):
            layers.append(Bottleneck(cin, 32 * 2 ** i, 2 if i and not j else 1))
            cin = 128 * 2 ** i
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(cin, classes))


def parse():
    p = argparse.ArgumentParser(usage="main.py [options] size classes")
    p.add_argument("size", choices=DEPTHS)
    p.add_argument("classes", type=int)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--splits", type=int, default=1, help="backward passes that share a batch")
    p.add_argument("--px", type=int, default=128, help="picture size in pixels")
    p.add_argument("--steps", type=int, default=5)
    return p.parse_args()


if __name__ == "__main__":
    args = parse()
    net = resnet(DEPTHS[args.size], args.classes).cuda()
    sgd = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    for step in range(args.steps):
        pictures = torch.rand(args.batch, 1, args.px, args.px)
        kinds = torch.randint(args.classes, (args.batch,))
        sgd.zero_grad()
        for p, k in zip(pictures.chunk(args.splits), kinds.chunk(args.splits)):
            loss = nn.functional.cross_entropy(net(p.cuda()), k.cuda(), reduction="sum") / args.batch
            loss.backward()
        sgd.step()
