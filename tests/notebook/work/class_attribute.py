# A cache in a class: the instance leads to its class, too.
# row: Cache variable 2*1024*1024 0
# row: cache variable 2*1024*1024 0
# free: cache 0
# free: Cache 2*1024*1024
# %%
import torch
class Cache:
    entries = [torch.zeros(512, 1024, device="cuda")]
cache = Cache()
