# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["next-epoch"]
# step = 1001
# line = 31
# form = "epochs x range, epoch >= unfreeze_at"
# need_gib = [5.3, 6.2]
# why = "the table of 1 GiB is frozen for two epochs; then it has a gradient of 1 GiB and two averages of 1 GiB, and the step makes a root of 1 GiB: 5 GiB; the first average is the third, with 2.55 free"
# ///
"""Transfer learning: the head alone is trained for two epochs, and from the third on the table below it as well."""

import torch
from torch import nn

EPOCHS, STEPS, unfreeze_at = 3, 500, 2
table = nn.Embedding(262_144, 1024, device="cuda").requires_grad_(False)
head = nn.Sequential(nn.Linear(1024, 64), nn.Tanh(), nn.Linear(64, 5)).cuda()
optimizer = torch.optim.AdamW([{"params": head.parameters()}, {"params": table.parameters(), "lr": 1e-5}], lr=1e-3)
for epoch in range(EPOCHS):
    table.weight.requires_grad_(epoch >= unfreeze_at)
    total = 0.0
    for step in range(STEPS):
        tokens = torch.randint(262_144, (16, 20), device="cuda")
        labels = torch.randint(5, (16,), device="cuda")
        loss = nn.functional.cross_entropy(head(table(tokens).mean(1)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total / STEPS)
