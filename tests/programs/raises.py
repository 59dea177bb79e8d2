"""A mistake of the user's own: ValueError after the model was created."""

import torch
from torch import nn

model = nn.Linear(1024, 1024).cuda()
if model.weight.shape[0] != 512:
    raise ValueError(f"expected a width of 512, found {model.weight.shape[0]}")
model(torch.zeros(1, 1024, device="cuda"))
