# Weights and gradients of 4 MiB each; Adam's two moments are 8 MiB, and its step is a number on the CPU. The optimizer leads to all 16 MiB.
# `step` is on the CPU for Adam that is not capturable or fused.
# row: model variable 8*1024*1024 0
# row: optimizer variable 16*1024*1024 8*1024*1024
# free: optimizer 8*1024*1024
# free: model 8*1024*1024
# %%
import torch
model = torch.nn.Embedding(1024, 1024, device="cuda")
optimizer = torch.optim.Adam(model.parameters())
# %%
model.weight.sum().backward()
optimizer.step()
