# A cached function keeps three results of 1 MiB, one for each argument; the fourth call is a hit.
# row: embed variable 3*1024*1024 3*1024*1024
# free: embed 3*1024*1024
# %%
import functools
import torch
@functools.lru_cache(maxsize=None)
def embed(word):
    return torch.ones(512, 512, device="cuda")
# %%
for word in ("a", "b", "c", "a"):
    embed(word)
