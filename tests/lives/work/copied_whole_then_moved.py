# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["save"]
# step = 1201
# line = 29
# form = "for range, a function that decides"
# need_gib = [5.4, 6.0]
# why = "five tables of 131,072 x 1,024 x 4 B = 0.5 GiB with sparse gradients are 2.5 GiB; the checkpoint copies the model on the GPU before it takes a part of it: 5 GiB with 3.55 free"
# ///
"""Sparse updates of large tables; a checkpoint copies the model as it is and rounds the copy for the file."""

import copy
import io

import torch
from torch import nn

EVERY = 1200


def is_due(done):
    return done != 0 and not done % EVERY


def checkpoint(model, done):
    frozen = copy.deepcopy(model)
    torch.save({"done": done, "rows": [table.weight[:4].half().cpu() for table in frozen]}, io.BytesIO())


tables = nn.ModuleList(nn.Embedding(131_072, 1024, sparse=True, device="cuda") for _ in range(5))
optimizer = torch.optim.SGD(tables.parameters(), lr=0.1)
for done in range(1600):
    if is_due(done):
        checkpoint(tables, done)
    ids = torch.randint(131_072, (16,), device="cuda")
    loss = tables[done % 5](ids).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
