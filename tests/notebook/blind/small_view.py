# A view of ten numbers keeps the whole storage of 1000 x 1000 x 4 B = 4,000,000 B, a block of 4,000,256 B (7813 x 512 B), after the
# base is gone.
# row: head variable 7813*512 7813*512
# absent: base
# free: head 7813*512
# %%
import torch
base = torch.zeros(1000, 1000, device="cuda")
# %%
head = base[0, :10]
del base
