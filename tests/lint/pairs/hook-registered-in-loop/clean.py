"""Trains a network, and notes how far the output is from the target."""

import functools

import torch
import torch.nn.functional as F
from torch import nn

model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def note(target, module, inputs, output):
    print((output - target).abs().max().item())


for step in range(5):
    x = torch.randn(1024, 1024, device="cuda")
    y = torch.randn(1024, 1024, device="cuda")
    hook = model.register_forward_hook(functools.partial(note, y))
    loss = F.l1_loss(model(x), y)
    hook.remove()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
