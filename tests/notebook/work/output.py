# The last line of a cell is 4 MiB; IPython keeps the value as Out[2], `_2` and `_`.
# row: x variable 4*1024*1024 4*1024*1024
# row: Out[2] output 4*1024*1024 4*1024*1024
# row: _ output 4*1024*1024 4*1024*1024
# free: Out[2] 4*1024*1024
# free: x 4*1024*1024
# %%
import torch
x = torch.zeros(1024, 1024, device="cuda")
# %%
x * 2
