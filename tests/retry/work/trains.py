"""A small model and AdamW; prints the hooks on all modules, and the option `fused` of the optimizer."""

import torch
from torch import nn
from torch.nn.modules import module

with open("runs.txt", "a") as file:
    file.write("x")
model = nn.Linear(64, 64).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    model(torch.randn(8, 64, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
hooks = len(module._global_forward_hooks) + len(module._global_forward_pre_hooks)
print(f"hooks {hooks} fused {optimizer.param_groups[0]['fused']}")
