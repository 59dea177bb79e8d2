"""torchao: training with float8 linear layers."""

import torch
from torch import nn
from torchao.float8 import convert_to_float8_training

model = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).to("cuda", torch.bfloat16)
convert_to_float8_training(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(4):
    loss = model(torch.randn(64, 1024, device="cuda", dtype=torch.bfloat16)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
