# A buffer of 2 MiB is an attribute of the class. A class is part of cycles of its own, which a collection removes with the name.
# row: Buffers variable 2*1024*1024 2*1024*1024
# free: Buffers 2*1024*1024
# %%
import torch
class Buffers:
    mask = torch.ones(1024, 512, device="cuda")
    names = ["mask"]
