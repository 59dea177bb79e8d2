# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 29
# requested_bytes = 1073741824
# says_any = ["optimizer state", "optimizer's state", "adam", "exp_avg"]
# steps = 0
# ///
"""Trains a large embedding with AdamW: the weight, its gradient and the first moment fit, the second moment does not."""

import torch
import torch.nn.functional as F
from torch import nn

ROWS, WIDTH, CLASSES = 131072, 2048, 32

table = nn.Embedding(ROWS, WIDTH, device="cuda")
head = nn.Linear(WIDTH, CLASSES, device="cuda")
optimizer = torch.optim.AdamW([*table.parameters(), *head.parameters()], lr=1e-3)

for step in range(4):
    tokens = torch.randint(ROWS, (256,), device="cuda")
    labels = torch.zeros(256, dtype=torch.long, device="cuda")
    loss = F.cross_entropy(head(table(tokens)), labels)
    loss.backward()
    print("backward of step", step, "done")
    optimizer.step()
    optimizer.zero_grad()
