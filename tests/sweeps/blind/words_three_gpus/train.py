"""A part of the case `words_three_gpus`: its verdicts are in `case.json`."""
import sys

import torch
from torch import nn

cfg = {"data.rows": 100000, "data.batch": 64, "model.dim": 64, "optim.lr": 0.05}
for word in sys.argv[1:]:
    key, _, value = word.partition("=")
    if key not in cfg:
        raise SystemExit(f"unknown key: {key}")
    cfg[key] = type(cfg[key])(value)


class Recommender(nn.Module):
    def __init__(self, rows, dim):
        super().__init__()
        self.items = nn.Embedding(rows, dim, device="cuda")
        self.score = nn.Linear(dim, 1, device="cuda")

    def forward(self, ids):
        return self.score(self.items(ids).mean(dim=1)).squeeze(-1)


model = Recommender(cfg["data.rows"], cfg["model.dim"])
opt = torch.optim.SGD(model.parameters(), lr=cfg["optim.lr"])
bce = nn.BCEWithLogitsLoss()

for step in range(4):
    ids = torch.randint(0, cfg["data.rows"], (cfg["data.batch"], 32), device="cuda")
    clicks = torch.randint(0, 2, (cfg["data.batch"],), device="cuda").float()
    loss = bce(model(ids), clicks)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
