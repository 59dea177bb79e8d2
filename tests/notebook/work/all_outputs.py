# Two outputs of 2 and 4 MiB go together; `x` of 2 MiB stays.
# row: Out[2] output 2*1024*1024 2*1024*1024
# row: Out[3] output 4*1024*1024 4*1024*1024
# free: Out 6*1024*1024
# free: x 2*1024*1024
# %%
import torch
x = torch.zeros(512, 1024, device="cuda")
# %%
x * 2
# %%
torch.zeros(1024, 1024, device="cuda")
