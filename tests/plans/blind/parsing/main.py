"""Trains a pyramid network for scene parsing."""
import argparse
from argparse import BooleanOptionalAction as Switch

import torch
import torch.nn.functional as F
from torch import nn, utils


class ConvBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.a = nn.Conv2d(ch, ch, 3, padding=1)
        self.b = nn.Conv2d(ch, ch, 3, padding=1)
        self.n = nn.GroupNorm(4, ch)

    def forward(self, x):
        return F.relu(x + self.b(F.relu(self.n(self.a(x)))))


class Pyramid(nn.Module):
    def __init__(self, ch=48, classes=8, per_level=4, remat=False):
        super().__init__()
        self.inp = nn.Conv2d(3, ch, 5, stride=2, padding=2)
        self.levels = nn.ModuleList(nn.ModuleList(ConvBlock(ch) for _ in range(per_level)) for _ in range(3))
        self.out = nn.Conv2d(3 * ch, classes, 1)
        self.remat = remat

    def run(self, block, x):
        return utils.checkpoint.checkpoint(block, x, use_reentrant=False) if self.remat else block(x)

    def forward(self, img):
        x, maps = self.inp(img), []
        for level in self.levels:
            for block in level:
                x = self.run(block, x)
            maps.append(x)
            x = F.max_pool2d(x, 2)
        size = maps[0].shape[-2:]
        x = torch.cat([F.interpolate(m, size) for m in maps], 1)
        return F.interpolate(self.out(x), scale_factor=2)


def main(argv=None):
    p = argparse.ArgumentParser("parsing")
    p.add_argument("--batch", default=8, type=int)
    p.add_argument("--edge", default=256, type=int, help="edge of the square pictures")
    p.add_argument("--amp", action=Switch, default=False)
    p.add_argument("--remat", action=Switch, default=False, help="compute blocks again in backward")
    p.add_argument("--flip", action=Switch, default=True, help="mirror every other batch")
    p.add_argument("--steps", default=6, type=int)
    args = p.parse_args(argv)

    net = Pyramid(remat=args.remat).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, nesterov=True)
    for step in range(args.steps):
        img = torch.rand(args.batch, 3, args.edge, args.edge, device="cuda")
        seg = torch.randint(8, (args.batch, args.edge, args.edge), device="cuda")
        if args.flip and step % 2:
            img, seg = img.flip(-1), seg.flip(-1)
        with torch.amp.autocast("cuda", torch.bfloat16, enabled=args.amp):
            loss = F.cross_entropy(net(img), seg)
        loss.backward()
        opt.step()
        opt.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
