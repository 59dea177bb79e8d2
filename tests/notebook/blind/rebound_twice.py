# A cell that binds a tensor runs three times. Each run drops the tensor of the run before: one block of 1024 x 1024 x 4 B = 4 MiB is
# left. Modules and IPython's own names hold no tensor of the user.
# row: x variable 4*1024*1024 4*1024*1024
# absent: torch
# absent: get_ipython
# absent: In
# absent: Out
# free: x 4*1024*1024
# says: x
# %%
import torch
# %%
x = torch.zeros(1024, 1024, device="cuda")
# %% again 2
# %% again 2
