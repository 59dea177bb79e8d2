"""The distance of every vector of a set to every one of another."""

import torch

a = torch.randn(2048, 128, device="cuda")
b = torch.randn(2048, 128, device="cuda")
distances = ((a[:, None] - b[None, :]) ** 2).sum(-1).sqrt()
print(distances.shape)
