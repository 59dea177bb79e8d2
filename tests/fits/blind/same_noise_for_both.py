# /// expect
# run = "check"
# vram = "6GiB"
# kind = 7
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.8, 4.4]
# why = "262,144 x 256 x 4 B = 0.25 GiB; both networks take the same drawn rows, at most all of them, some six matrices of at most 0.25 GiB"
# ///
"""Consistency training: fork_rng makes student and teacher drop the same rows."""

import torch
from torch import nn

ROWS, WIDTH, STEPS = 262_144, 256, 3


class RowDropout(nn.Module):
    def forward(self, x):
        keep = torch.bernoulli(torch.full((len(x),), 0.4, device=x.device)).bool()
        return x[keep]


def network():
    return nn.Sequential(RowDropout(), nn.Linear(WIDTH, WIDTH), nn.Tanh()).cuda()


teacher, student = network(), network()
optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
for step in range(STEPS):
    x = torch.randn(ROWS, WIDTH, device="cuda")
    with torch.random.fork_rng(devices=[0]), torch.no_grad():
        torch.manual_seed(step)
        target = teacher(x)
    with torch.random.fork_rng(devices=[0]):
        torch.manual_seed(step)
        prediction = student(x)
    if prediction.shape != target.shape:
        raise ValueError(f"student has {len(prediction)} rows, teacher {len(target)}")
    loss = (prediction - target).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
