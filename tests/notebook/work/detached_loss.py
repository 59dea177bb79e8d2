# A number keeps no graph: nothing but `w`.
# row: w variable 4*1024*1024 4*1024*1024
# absent: total
# free: total 0
# %%
import torch
w = torch.zeros(1024, 1024, device="cuda", requires_grad=True)
# %%
total = 0.0
for step in range(3):
    total += w.exp().sum().item()
