# A function holds 3 x 4 MiB when a request of 100 GiB fails on a GPU of 24 GiB. After an out-of-memory error the frames are emptied:
# the traceback holds nothing, and only `x` is left.
# fails: 2
# row: x variable 4*1024*1024 4*1024*1024
# absent: traceback
# absent: cycles
# free: x 4*1024*1024
# says: out of memory
# %%
import torch
x = torch.ones(1024, 1024, device="cuda")
def forward(x):
    kept = [x + i for i in range(3)]
    return kept, torch.empty(100, 1024, 1024, 1024, dtype=torch.uint8, device="cuda")
# %%
forward(x)
