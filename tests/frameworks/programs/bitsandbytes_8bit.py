"""bitsandbytes: an 8-bit AdamW over a model whose body is in 4 bits."""

import bitsandbytes as bnb
import torch
from torch import nn

torch.manual_seed(0)
body = nn.Sequential(
    bnb.nn.Linear4bit(1024, 4096, bias=False, compute_dtype=torch.bfloat16, quant_type="nf4"),
    nn.GELU(),
    bnb.nn.Linear4bit(4096, 1024, bias=False, compute_dtype=torch.bfloat16, quant_type="nf4"),
).cuda()
head = nn.Linear(1024, 1024, dtype=torch.bfloat16).cuda()
optimizer = bnb.optim.AdamW8bit(head.parameters(), lr=1e-4)
for _ in range(4):
    x = torch.randn(64, 1024, device="cuda", dtype=torch.bfloat16)
    loss = head(body(x)).float().square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
