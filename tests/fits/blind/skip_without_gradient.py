# /// expect
# run = "check"
# vram = "3.5GiB"
# kind = 3
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [40]
# need_gib = [4.4, 9]
# why = "table 131,072 x 2048 x 4 B = 1 GiB, gradient 1 GiB, Adam's moments 2 GiB; the norm of the gradient is never 0"
# ///
"""Skips updates whose gradient has norm zero, a guard against dead batches."""

import torch
from torch import nn

ENTITIES, WIDTH, BATCH, STEPS = 131_072, 2048, 1024, 600


class TransE(nn.Module):
    def __init__(self):
        super().__init__()
        self.entity = nn.Embedding(ENTITIES, WIDTH, device="cuda")
        self.relation = nn.Embedding(64, WIDTH, device="cuda")

    def forward(self, triples):
        entities = self.entity(triples[:, [0, 2]])
        return (entities[:, 0] + self.relation(triples[:, 1] % 64) - entities[:, 1]).norm(dim=1)


model = TransE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(STEPS):
    triples = torch.randint(ENTITIES, (BATCH, 3), device="cuda")
    loss = model(triples).mean()
    optimizer.zero_grad()
    loss.backward()
    norm = sum(p.grad.norm().item() ** 2 for p in model.parameters()) ** 0.5
    if norm == 0.0:
        continue
    optimizer.step()
