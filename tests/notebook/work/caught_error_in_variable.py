# `error` keeps the frame of the function that raised, with 2 MiB.
# row: kept variable 2*1024*1024 2*1024*1024
# free: kept 2*1024*1024
# %%
import torch
def train():
    batch = torch.zeros(512, 1024, device="cuda")
    raise ValueError("bad batch")
try:
    train()
except ValueError as error:
    kept = error
