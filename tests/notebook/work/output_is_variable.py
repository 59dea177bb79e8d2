# The last line shows `x` itself: variable and output are one object, and `%oomph free x` removes both.
# row: x variable 4*1024*1024 0
# row: Out[2] output 4*1024*1024 0
# says: also held by `Out[2]`
# free: x 4*1024*1024
# %%
import torch
x = torch.zeros(1024, 1024, device="cuda")
# %%
x
