# `_` is the user's own name here, and 2 MiB belong to it.
# row: _ variable 2*1024*1024 2*1024*1024
# free: _ 2*1024*1024
# %%
import torch
for _ in [torch.zeros(512, 1024, device="cuda")]:
    pass
