# A loss that was moved to the CPU with its graph keeps 4 MiB on the GPU, and the leaf.
# row: loss variable 2*4*1024*1024 4*1024*1024
# free: loss 4*1024*1024
# %%
import torch
w = torch.zeros(1024, 1024, device="cuda", requires_grad=True)
loss = w.exp().sum().cpu()
