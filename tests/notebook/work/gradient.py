# A leaf of 2 MiB and its gradient of 2 MiB.
# row: w variable 4*1024*1024 4*1024*1024
# free: w 4*1024*1024
# %%
import torch
w = torch.zeros(512, 1024, device="cuda", requires_grad=True)
w.sum().backward()
