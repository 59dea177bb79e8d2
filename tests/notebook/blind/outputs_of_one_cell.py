# A cell whose last line makes a tensor runs twice: Out[2] and Out[3] hold 2 MiB each, and no name holds either.
# row: Out[2] output 2*1024*1024 2*1024*1024
# row: Out[3] output 2*1024*1024 2*1024*1024
# free: Out[3] 2*1024*1024
# %%
import torch
# %%
torch.zeros(512, 1024, device="cuda")
# %% again 2
