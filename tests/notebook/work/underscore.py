# `_` is the last output, 2 MiB; Out[1] has 4 MiB.
# row: Out[2] output 2*1024*1024 2*1024*1024
# free: _ 2*1024*1024
# free: _1 4*1024*1024
# %%
import torch
torch.zeros(1024, 1024, device="cuda")
# %%
torch.zeros(512, 1024, device="cuda")
