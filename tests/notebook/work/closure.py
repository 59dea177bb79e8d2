# A function keeps 2 MiB in its closure.
# row: predict variable 2*1024*1024 2*1024*1024
# row: scale variable 2*1024*1024 2*1024*1024
# free: predict 2*1024*1024
# %%
import torch
def make():
    weights = torch.zeros(512, 1024, device="cuda")
    return lambda x: x * weights
predict = make()
def scale(x, by=torch.zeros(512, 1024, device="cuda")):
    return x * by
