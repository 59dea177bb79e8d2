# `%oomph free x` removes the variable everywhere IPython keeps it: the user namespace, and Out[2], `_2` and `_` of the cell that
# displayed it. All 8 MiB go.
# free: x 8*1024*1024
# says: x
# %%
import torch
x = torch.zeros(2048, 1024, device="cuda")
# %%
x
