"""Attention of 16 heads over 2048 tokens."""

import torch
import torch.nn.functional as F
from torch import nn

query, key, value = (nn.Linear(64, 64).cuda().bfloat16() for _ in range(3))
x = torch.randn(1, 16, 2048, 64, device="cuda", dtype=torch.bfloat16)
with torch.no_grad():
    q, k, v = query(x), key(x), value(x)
    weights = F.softmax(q @ k.transpose(-2, -1) / 8, dim=-1)
    out = weights @ v
print(out.shape)
