# A cell that appends to a list runs three times: 3 x 512 x 1024 x 4 B = 6 MiB in the list. `item` is the last of the three, so the list
# alone frees the first two, 4 MiB, and `item` alone frees nothing.
# row: store variable 3*2*1024*1024 2*2*1024*1024
# row: item variable 2*1024*1024 0
# free: store 2*2*1024*1024
# %%
import torch
store = []
# %%
item = torch.ones(512, 1024, device="cuda")
store.append(item)
# %% again 2
# %% again 2
