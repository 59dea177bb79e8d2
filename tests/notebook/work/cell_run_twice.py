# The cell appends 2 MiB at each run: twice 2 MiB.
# row: kept variable 2*2*1024*1024 2*2*1024*1024
# free: kept 4*1024*1024
# %%
import torch
kept = []
# %%
kept.append(torch.zeros(512, 1024, device="cuda"))
# %% again 2
