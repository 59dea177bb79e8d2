"""The distance of every vector of a set to every one of another."""

import torch

a = torch.randn(2048, 128, device="cuda")
b = torch.randn(2048, 128, device="cuda")
distances = torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")
print(distances.shape)
