"""A part of the case `env_eval_batch`: its verdicts are in `case.json`."""
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_BATCH = int(os.environ.get("TRAIN_BATCH", "4"))
EVAL_BATCH = int(os.getenv("EVAL_BATCH", 8))
WIDTH, TOKENS = 2048, 1024


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(x)))


model = nn.Sequential(*(Block() for _ in range(4))).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)


def train():
    model.train()
    for _ in range(3):
        x = torch.randn(TRAIN_BATCH, TOKENS, WIDTH, device="cuda")
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def evaluate():
    model.eval()
    total = 0.0
    for _ in range(2):
        x = torch.randn(EVAL_BATCH, TOKENS, WIDTH, device="cuda")
        total += model(x).mean().item()
    return total / 2


train()
print("eval:", evaluate())
