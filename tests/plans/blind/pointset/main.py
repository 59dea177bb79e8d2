"""Trains a point set classifier on random clouds."""
import argparse
import time

import torch
from torch import nn


def shared(*dims):
    layers = []
    for a, b in zip(dims, dims[1:]):
        layers += [nn.Conv1d(a, b, 1), nn.GroupNorm(4, b), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)


class PointSet(nn.Module):
    def __init__(self, classes=40):
        super().__init__()
        self.local = shared(3, 64, 64, 128)
        self.wide = shared(128, 256, 512)
        self.mix = shared(640, 512, 256)
        self.head = nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, classes))

    def forward(self, pts):
        f = self.local(pts.transpose(1, 2))
        g = self.wide(f).amax(2, keepdim=True)
        h = self.mix(torch.cat([f, g.expand(-1, -1, f.shape[2])], 1))
        return self.head(h.mean(2))


def clouds(args):
    gen = torch.Generator().manual_seed(0)
    for _ in range(args.steps):
        yield (torch.randn(args.batch_size, args.points, 3, generator=gen),
               torch.randint(40, (args.batch_size,), generator=gen))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--points", type=int, default=1024)
    parser.add_argument("--accumulate", type=int, default=1, help="number of passes for one batch")
    parser.add_argument("--amp", action="store_true", help="autocast and gradient scaling")
    parser.add_argument("--steps", type=int, default=6)
    args = parser.parse_args()

    model = PointSet().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cuda", enabled=args.amp)
    loss_sum = nn.CrossEntropyLoss(reduction="sum")
    begin = time.time()
    for step, (points, labels) in enumerate(clouds(args)):
        optimizer.zero_grad()
        for part, truth in zip(points.tensor_split(args.accumulate), labels.tensor_split(args.accumulate)):
            with torch.autocast("cuda", dtype=torch.float16, enabled=args.amp):
                loss = loss_sum(model(part.cuda()), truth.cuda()) / args.batch_size
            scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        print(f"{step} {time.time() - begin:.1f}s")


if __name__ == "__main__":
    main()
