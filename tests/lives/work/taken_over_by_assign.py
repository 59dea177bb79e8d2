# /// expect
# run = "check"
# vram = "5GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["load"]
# form = "while not done, a flag"
# need_gib = [3.4, 3.8]
# why = "the state has three tables of 262,144 x 1,024 x 4 B = 1 GiB on the GPU, and the model, made without memory, takes the same tensors over: 3 GiB, not 6"
# ///
"""Loads with assign=True into a model on the meta device: the tensors of the file become the parameters."""

import torch
from torch import nn

state = {f"{n}.weight": torch.zeros(262_144, 1024, device="cuda") for n in range(3)}
with torch.device("meta"):
    model = nn.ModuleList(nn.Embedding(262_144, 1024) for _ in range(3))
model.load_state_dict(state, assign=True)
del state
model.requires_grad_(False)
bias = nn.Parameter(torch.zeros(1024, device="cuda"))
optimizer = torch.optim.SGD([bias], lr=0.1, momentum=0.5)
done, updates = False, 0
while not done:
    ids = torch.randint(262_144, (3, 8), device="cuda")
    loss = sum((table(row) + bias).square().mean() for table, row in zip(model, ids))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    updates += 1
    done = updates >= 1400
