# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["save"]
# form = "ExitStack around while, divmod of the counter"
# need_gib = [2.9, 3.4]
# why = "weights of 1 GiB, momentum of 1 GiB, a gradient of 0.5 GiB for one of two tables at a time; a state_dict refers to the tensors and copies nothing, and a slice of 1,024 rows goes to the file"
# ///
"""Keeps the last three states in a list, as checkpoints are kept: they are references to the same tensors."""

import io
from contextlib import ExitStack

import torch
from torch import nn

model = nn.ModuleList(nn.Embedding(131_072, 1024, device="cuda") for _ in range(2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
states, step = [], 0
with ExitStack() as stack:
    stack.callback(lambda: print("kept", len(states)))
    while step < 1500:
        loss = model[step % 2](torch.arange(step, step + 16, device="cuda")).pow(2).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        step += 1
        number, rest = divmod(step, 450)
        if rest == 0:
            states.append((number, model.state_dict(), optimizer.state_dict()))
            del states[:-3]
            torch.save({name: rows[:1024].clone().cpu() for name, rows in states[-1][1].items()}, io.BytesIO())
