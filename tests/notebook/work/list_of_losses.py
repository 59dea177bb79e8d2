# Each loss has 512 bytes and keeps the product of `w` (4 MiB) by its graph: exp saves its result, 4 MiB. Three losses: 12 MiB.
# The sum saves nothing. The leaf `w` belongs to the graphs too.
# row: losses variable 3*(4*1024*1024+512)+4*1024*1024 3*(4*1024*1024+512)
# row: w variable 4*1024*1024 0
# free: losses 3*(4*1024*1024+512)
# free: w 4*1024*1024
# says: also held by `losses`
# says: by its autograd graph
# %%
import torch
w = torch.zeros(1024, 1024, device="cuda", requires_grad=True)
# %%
losses = []
for step in range(3):
    losses.append(w.exp().sum())
