# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["load"]
# step = 1
# line = 21
# form = "itertools.count with break"
# need_gib = [6.4, 6.8]
# why = "the checkpoint lies on the GPU with three tables of 262,144 x 2,048 x 2 B = 1 GiB while the model of the same size is made: the fifth GiB does not fit into 4.55; the steps need 3"
# ///
"""Trains a head on frozen tables in half precision; the checkpoint is on the GPU until the model has copied it."""

from itertools import count

import torch
from torch import nn

checkpoint = {f"{n}.weight": torch.full((262_144, 2048), 0.1 * n, device="cuda", dtype=torch.float16) for n in range(3)}
tables = nn.ModuleList(nn.Embedding(262_144, 2048, device="cuda", dtype=torch.float16) for _ in range(3))
tables.load_state_dict(checkpoint)
tables.requires_grad_(False)
del checkpoint
torch.cuda.empty_cache()

head = nn.Linear(2048, 1, device="cuda")
optimizer = torch.optim.Adagrad(head.parameters())
for n in count(1):
    ids = torch.randint(262_144, (32, 3), device="cuda")
    features = sum(table(column) for table, column in zip(tables, ids.unbind(1)))
    loss = (head(features.float()) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if n == 1500:
        break
