# /// expect
# run = "check"
# vram = "3GiB"
# kind = 1
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.0, 2.4]
# why = "rows of 64 normal weights have a norm of 7.97, sigma 0.70; above 9.0 are 7.3 % of 300,000 = 22,000 (20,000 to 24,000); 22,000 x 16,384 x 4 B = 1.34 GiB at most 1.5, with a context; all rows would be 18 GiB"
# ///
"""Trains a memory only for rows of an embedding that are long."""

import torch
from torch import nn

words = nn.Embedding(300_000, 64)
with torch.no_grad():
    long = (words.weight.norm(dim=1) > 9.0).nonzero().squeeze(1)
print("long rows", long.numel())
memory = torch.zeros(long.numel(), 16_384, device="cuda")
gate = nn.Linear(64, 1).cuda()
optimizer = torch.optim.Adam(gate.parameters())
rows = words.weight.detach()[long].cuda()
for step in range(5):
    pick = torch.randint(len(rows), (1024,), device="cuda")
    loss = (gate(rows[pick]) * memory[pick, :1]).mean() + gate(rows[pick]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
