"""Scores tokens by their embeddings."""

import torch
import torch.nn.functional as F
from torch import nn

table = torch.randn(50257, 64, device="cuda")
head = nn.Linear(64, 64).cuda()
with torch.no_grad():
    for step in range(3):
        tokens = torch.randint(50257, (1024,), device="cuda")
        embedded = F.one_hot(tokens, 50257).float() @ table
        scores = head(embedded)
print(scores.shape)
