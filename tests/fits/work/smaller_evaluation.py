# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits", "fits so far"]
# says_so_far = ["not run", "smaller_evaluation.py:47"]
# need_gib = [3.6, 6.2]
# why = "a training step has 8 x 0.25 GiB twice (65,536 x 1024 x 4 B); evaluation every 50 steps has a quarter of the rows and keeps no graph"
# ///
"""Trains a ranking model and evaluates it every fifty steps on smaller batches, without gradients."""

import torch
from torch import nn

ROWS, WIDTH, DEPTH, EVERY, STEPS = 65536, 1024, 7, 50, 1000


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(DEPTH)])
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, x):
        return self.score(self.layers(x)).squeeze(-1)


@torch.no_grad()
def evaluate(model):
    wins = 0
    for _ in range(10):
        good, bad = torch.randn(2, ROWS // 4, WIDTH, device="cuda")
        wins += (model(good) > model(bad)).float().mean().item()
    return wins / 10


model = Ranker().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(1, STEPS + 1):
    scores = model(torch.randn(ROWS, WIDTH, device="cuda"))
    loss = nn.functional.softplus(scores[1::2] - scores[::2]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % EVERY == 0:
        print(step, evaluate(model))
