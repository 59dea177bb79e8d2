"""A part of the case `threshold_branch`: its verdicts are in `case.json`."""
import argparse

import torch

parser = argparse.ArgumentParser(description="Spread points by repulsion")
parser.add_argument("--points", type=int, default=2048)
parser.add_argument("--dim", type=int, default=16)
args = parser.parse_args()

FULL_LIMIT = 20_000
CHUNK = 256


def energy(rows, x):
    diff = rows[:, None, :] - x[None, :, :]
    d2 = diff.pow(2).sum(dim=-1)
    return (1.0 / (1.0 + d2)).sum()


x = torch.nn.Parameter(torch.randn(args.points, args.dim, device="cuda"))
optimizer = torch.optim.Adam([x], lr=0.01)

for step in range(3):
    optimizer.zero_grad()
    if args.points <= FULL_LIMIT:
        loss = energy(x, x)
        loss.backward()
    else:
        # too many pairs at once: accumulate the gradient by chunks of rows
        loss = torch.zeros((), device="cuda")
        for i in range(0, args.points, CHUNK):
            part = energy(x[i:i + CHUNK], x)
            part.backward()
            loss += part.detach()
    optimizer.step()
    print(step, loss.item())
