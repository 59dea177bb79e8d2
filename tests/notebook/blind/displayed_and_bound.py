# A displayed tensor has two holders, the name and the output: each alone frees nothing. A row in which only the output is deleted
# leaves the name.
# row: x variable 8*1024*1024 0
# row: Out[2] output 8*1024*1024 0
# free: Out[2] 0
# %%
import torch
x = torch.zeros(2048, 1024, device="cuda")
# %%
x
