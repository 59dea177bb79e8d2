"""Trains an anchor-free detector head on random pictures."""
import argparse

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


def stage(cin, cout, n):
    layers = [nn.Sequential(nn.Conv2d(cin, cout, 3, 2, 1), nn.SiLU())]
    for _ in range(n):
        layers.append(nn.Sequential(nn.Conv2d(cout, cout, 3, padding=1), nn.GroupNorm(16, cout), nn.SiLU()))
    return layers


class Detector(nn.Module):
    def __init__(self, classes=20, recompute=False):
        super().__init__()
        self.body = nn.ModuleList(stage(3, 64, 4) + stage(64, 128, 4) + stage(128, 256, 4))
        self.cls = nn.Conv2d(256, classes, 1)
        self.box = nn.Conv2d(256, 4, 1)
        self.recompute = recompute

    def forward(self, x):
        for layer in self.body:
            x = checkpoint(layer, x, use_reentrant=False) if self.recompute and self.training else layer(x)
        return self.cls(x), self.box(x)


@torch.no_grad()
def validate(model, args):
    model.eval()
    x = torch.rand(4, 3, 320, 320).cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=args.amp):
        cls, _ = model(x)
    model.train()
    return cls.sigmoid().amax().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--images", type=int, default=16)
    ap.add_argument("--accumulate", type=int, default=1)
    ap.add_argument("--amp", action="store_true")
    ap.add_argument("--recompute", action="store_true")
    ap.add_argument("--nominal-batch", type=int, default=64)
    ap.add_argument("--resume-checkpoint", default="")
    args = ap.parse_args()

    model = Detector(recompute=args.recompute).cuda()
    if args.resume_checkpoint:
        model.load_state_dict(torch.load(args.resume_checkpoint))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01 * args.images / args.nominal_batch, momentum=0.9)
    print(f"{args.images} images, accumulate {args.accumulate}, amp {args.amp}")
    for step in range(6):
        x = torch.rand(args.images, 3, 320, 320).cuda()
        target = torch.zeros(args.images, 20, 40, 40).cuda()
        boxes = torch.rand(args.images, 4, 40, 40).cuda()
        cls, box = model(x)
        loss = nn.functional.binary_cross_entropy_with_logits(cls, target) + nn.functional.l1_loss(box, boxes)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print("best score", validate(model, args))


if __name__ == "__main__":
    main()
