# 2 MiB in a function, then a request that no GPU can serve. The memory of the frame is freed at once.
# gpu: t4
# fails: 2
# row: x variable 2*1024*1024 2*1024*1024
# absent: traceback
# says: OutOfMemoryError: CUDA out of memory
# says: oomph: out of memory; freed 4.00 MiB
# %%
import torch
x = torch.zeros(512, 1024, device="cuda")
# %%
def train():
    batch = torch.zeros(1024, 1024, device="cuda")
    return torch.zeros(1 << 40, device="cuda")
train()
