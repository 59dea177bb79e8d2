# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["evaluation"]
# form = "epochs, batched zip of splits, a list that grows"
# need_gib = [0.6, 1.5]
# why = "tasks come one by one, and after each all tasks so far are evaluated, eight at the end; a task's outputs are 8,192 x 8,192 x 4 B = 256 MiB and end before the next: one at a time, or two"
# ///
"""Continual learning over eight tasks; after each one the accuracy on all tasks so far is taken."""

import torch
from torch import nn

model = nn.Linear(32, 8192).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
seen, table = [], {}
for task in "abcdefgh":
    generator = torch.Generator().manual_seed(ord(task))
    rows = torch.randn(1600, 32, generator=generator)
    for x, noise in zip(rows.split(8), rows.flip(0).split(8)):
        loss = (model(x.cuda()) - model(noise.cuda()).detach()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    seen.append(rows.repeat(6, 1)[:8192])
    with torch.no_grad():
        for number, tests in enumerate(seen):
            table[task, number] = model(tests.cuda()).mean().item()
print(len(table))
