# The function has 6 MiB in a local variable when it raises; the traceback keeps the frame.
# fails: 2
# row: traceback traceback 6*1024*1024 6*1024*1024
# free: traceback 6*1024*1024
# says: ZeroDivisionError
# %%
import torch
# %%
def train():
    batch = torch.zeros(1536, 1024, device="cuda")
    return 1 / 0
train()
