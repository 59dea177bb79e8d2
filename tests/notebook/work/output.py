# The last line of a cell is 4 MiB; IPython keeps the value as Out[3] (`%load_ext` is the first cell), `_3` and `_`.
# row: x variable 4*1024*1024 4*1024*1024
# row: Out[3] output 4*1024*1024 4*1024*1024
# row: _ output 4*1024*1024 4*1024*1024
# free: Out[3] 4*1024*1024
# free: x 4*1024*1024
# %%
import torch
x = torch.zeros(1024, 1024, device="cuda")
# %%
x * 2
