# Freed memory of the allocator is no user's memory: `del` of 8 MiB leaves a cache that `memory_allocated` does not count, so `free cache`
# drops nothing. `kept` is a list with the same tensor four times, 1 MiB.
# row: kept variable 1024*1024 1024*1024
# absent: big
# free: cache 0
# %%
import torch
big = torch.zeros(2048, 1024, device="cuda")
t = torch.zeros(512, 512, device="cuda")
kept = [t, t, (t, {"t": t})]
del t
# %%
del big
