# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["next-epoch"]
# form = "epochs x enumerate(loader), epoch in a dict"
# need_gib = [2.4, 2.9]
# why = "two frozen tables of 1 GiB; in the third epoch biases and a projection of 2,048 x 64 are thawed, not the tables: 2 GiB and a few MiB"
# ///
"""Gradual unfreezing that names what thaws in which epoch; the large tables never do."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(131_072, 2048, device="cuda") for _ in range(2))
        self.project = nn.Linear(2048, 64, device="cuda")
        self.answer = nn.Linear(64, 3, device="cuda")

    def forward(self, ids):
        return self.answer(self.project(self.tables[0](ids) + self.tables[1](ids)).tanh())


thaws = {2: "project", 4: "answer.bias"}
reader = Reader().requires_grad_(False)
reader.answer.weight.requires_grad_(True)
optimizer = torch.optim.AdamW(reader.parameters())
loader = DataLoader(TensorDataset(torch.arange(4000), torch.arange(4000) % 3), batch_size=16)
for epoch in range(6):
    if epoch in thaws:
        for name, parameter in reader.named_parameters():
            parameter.requires_grad_(parameter.requires_grad or name.startswith(thaws[epoch]))
    for index, (ids, labels) in enumerate(loader):
        loss = nn.functional.cross_entropy(reader(ids.cuda()), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
