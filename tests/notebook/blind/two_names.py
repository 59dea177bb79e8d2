# Two names for one tensor of 1 MiB: either name alone frees nothing.
# row: a variable 1024*1024 0
# row: b variable 1024*1024 0
# free: a 0
# %%
import torch
a = torch.zeros(256, 1024, device="cuda")
b = a
