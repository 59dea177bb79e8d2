"""torchao: an optimizer whose state is in 8 bits."""

import torch
from torch import nn
from torchao.optim import AdamW8bit

model = nn.Sequential(*[nn.Linear(1024, 1024, bias=False) for _ in range(6)]).cuda()
optimizer = AdamW8bit(model.parameters(), lr=1e-3)
for _ in range(4):
    loss = model(torch.randn(64, 1024, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
