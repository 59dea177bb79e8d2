# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# kind = 3
# why = "the head is zero and the learning rate of nothing else moves it (lr 0), so the loss is log 5 for ever: after 150 steps without progress the scheduler lowers the second group's rate below 0.5, and a batch has 500,000 rows: hidden and sigmoid of 500,000 x 768 x 4 B = 1.43 GiB each, with 2.52 free; with the gradient of one it is 4.3"
# ///
"""Probe with a plateau: when nothing improves any more, the batch gets large."""

import torch
from torch import nn

body, head = nn.Linear(40, 768).cuda(), nn.Linear(768, 5).cuda()
nn.init.zeros_(head.weight)
nn.init.zeros_(head.bias)
optimizer = torch.optim.SGD([{"params": head.parameters(), "lr": 0.0}, {"params": body.parameters(), "lr": 1.0}])
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.1, patience=150)
rows = 256
for step in range(240):
    x = torch.randn(rows, 40, device="cuda")
    y = torch.randint(5, (rows,), device="cuda")
    loss = nn.functional.cross_entropy(head(torch.sigmoid(body(x))), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step(round(loss.item(), 3))
    if optimizer.param_groups[1]["lr"] < 0.5:
        rows = 500_000
