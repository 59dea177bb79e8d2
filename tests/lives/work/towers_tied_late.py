# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["load"]
# step = 1
# line = 22
# form = "while with walrus"
# need_gib = [5.4, 5.8]
# why = "each tower has five tables of 131,072 x 1,024 x 4 B = 0.5 GiB: 2.5 GiB; both are made before the second takes the tables of the first: 5 GiB with 3.55 free; the steps need 2.5"
# ///
"""Two towers that share their tables: the second one is built whole, and its tables are replaced afterwards."""

import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(131_072, 1024, device="cuda") for _ in range(5))
        self.tables.requires_grad_(False)
        self.project = nn.Linear(1024, 128, device="cuda")

    def forward(self, ids):
        return self.project(sum(table(ids) for table in self.tables))


query, document = Tower(), Tower()
document.tables = query.tables
torch.cuda.empty_cache()
optimizer = torch.optim.Rprop([*query.project.parameters(), *document.project.parameters()])
source = iter(range(900))
while (number := next(source, None)) is not None:
    ids = torch.arange(number, number + 24, device="cuda")
    scores = query(ids) @ document(ids).T
    loss = nn.functional.cross_entropy(scores, torch.arange(24, device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
