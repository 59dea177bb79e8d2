# The storage without its tensor: 2 MiB.
# row: kept variable 2*1024*1024 2*1024*1024
# free: kept 2*1024*1024
# %%
import torch
kept = torch.zeros(512, 1024, device="cuda").untyped_storage()
