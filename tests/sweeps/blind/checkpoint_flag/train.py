"""A part of the case `checkpoint_flag`: its verdicts are in `case.json`."""
import argparse

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class FeedForward(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w1 = nn.Linear(d, 4 * d)
        self.act = nn.GELU()
        self.w2 = nn.Linear(4 * d, d)

    def forward(self, x):
        return x + self.w2(self.act(self.w1(x)))


class Model(nn.Module):
    def __init__(self, d=1024, depth=24, use_checkpoint=False):
        super().__init__()
        self.blocks = nn.ModuleList([FeedForward(d) for _ in range(depth)])
        self.use_checkpoint = use_checkpoint

    def forward(self, x):
        for block in self.blocks:
            if self.use_checkpoint and self.training:
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        return x


parser = argparse.ArgumentParser()
parser.add_argument("--bs", type=int, default=4, dest="batch")
parser.add_argument("--checkpoint", action="store_true", help="recompute activations in backward")
args = parser.parse_args()

model = Model(use_checkpoint=args.checkpoint).cuda().train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for i in range(3):
    x = torch.randn(args.batch, 512, 1024, device="cuda")
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    print(i, loss.item())
