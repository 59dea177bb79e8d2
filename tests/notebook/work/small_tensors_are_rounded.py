# 100 numbers: each takes a block of 512 bytes.
# row: numbers variable 100*512 100*512
# free: numbers 100*512
# %%
import torch
numbers = [torch.zeros((), device="cuda") for _ in range(100)]
