# 15 GiB do not fit beside 1 GiB on a T4 of 16 GB, which would fit on a larger GPU. The frame's 1 GiB goes with the frames.
# gpu: t4
# fails: 2
# absent: traceback
# absent: kept
# row: seed variable 512 512
# free: seed 512
# says: out of memory
# %%
import torch
seed = torch.zeros(1, device="cuda")
def grow(rows):
    kept = torch.empty(rows, 1024, 1024, 1024, dtype=torch.uint8, device="cuda")
    return grow(15) if rows == 1 else kept
# %%
grow(1)
