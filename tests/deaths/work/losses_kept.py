# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 25
# requested_bytes = 1073741824
# says_any = ["history"]
# culprit = 25
# steps = 3
# ///
"""Keeps the loss of every step for a plot, with the graph that backward() retained: each holds its batch of 1 GiB."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, WIDTH, HIDDEN, CLASSES = 262144, 1024, 32, 8

model = nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CLASSES)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
history = []

for step in range(20):
    batch = torch.randn(BATCH, WIDTH, device="cuda")
    labels = torch.zeros(BATCH, dtype=torch.long, device="cuda")
    loss = F.cross_entropy(model(batch), labels)
    del batch
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    history.append(loss)
    print("step", step, loss.item())
print("mean", sum(history) / len(history))
