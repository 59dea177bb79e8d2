# One tensor of 4 MiB.
# row: x variable 4*1024*1024 4*1024*1024
# free: x 4*1024*1024
# says: `%oomph free x` frees all 4.00 MiB
# %%
import torch
x = torch.zeros(1024, 1024, device="cuda")
