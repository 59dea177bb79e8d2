# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# stage = ["next-epoch"]
# form = "early stopping on a loss"
# need_gib = [1.9, 2.6]
# why = "weights and momentum of 0.5 GiB each, the gradient, and the best weights, which are copied into one buffer: 2 GiB, whenever the loss stops to fall"
# ///
"""Stops when the loss of validation has not fallen for three epochs; the best weights are kept in a buffer of their own."""

import torch
from torch import nn

model = nn.Embedding(65_536, 2048, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
best_weights = torch.empty_like(model.weight)
best, waited, patience = float("inf"), 0, 3
for epoch in range(12):
    for _ in range(120):
        loss = model(torch.randint(65_536, (64,), device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        valid = model(torch.arange(512, device="cuda")).square().mean().item()
    if valid < best:
        best, waited = valid, 0
        best_weights.copy_(model.weight.detach())
    else:
        waited += 1
        if waited >= patience:
            print("stopped in epoch", epoch)
            break
with torch.no_grad():
    model.weight.copy_(best_weights)
