# With `keep-frames` the traceback keeps its 4 MiB, until it is freed.
# fails: 3
# row: traceback traceback 4*1024*1024 4*1024*1024
# free: traceback 4*1024*1024
# says: the frames of the traceback keep their variables
# %%
%oomph keep-frames
# %%
import torch
# %%
def train():
    batch = torch.zeros(1024, 1024, device="cuda")
    return torch.zeros(1 << 40, device="cuda")
train()
