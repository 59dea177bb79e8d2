# /// expect
# run = "check"
# vram = "8GiB"
# kind = 4
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [3.9, 7.0]
# why = "a memory bank takes 0.25 GiB a step, but the loop has 12 steps: 3 GiB at its end, and the gradients of one batch"
# ///
"""Contrastive pretraining for twelve steps; every step adds its keys to a bank that all later steps compare with."""

import torch
import torch.nn.functional as F
from torch import nn

KEYS, WIDTH, QUERIES, STEPS = 65536, 1024, 256, 12


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return F.normalize(self.project(x), dim=-1)


encoder = Encoder().cuda()
optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-4)
bank = []
for step in range(STEPS):
    with torch.no_grad():
        bank.append(encoder(torch.randn(KEYS, WIDTH, device="cuda")))
    query = encoder(torch.randn(QUERIES, WIDTH, device="cuda"))
    similar = torch.stack([(query @ keys.t()).logsumexp(1) for keys in bank], dim=1)
    loss = similar.logsumexp(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
