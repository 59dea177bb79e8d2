# A generator that waits at `yield` keeps its frame: `table` of 4 MiB and the yielded row, a view of it. `finished` ran to its end and
# has no frame.
# row: rows variable 4*1024*1024 4*1024*1024
# absent: finished
# free: rows 4*1024*1024
# %%
import torch
def stream(n):
    table = torch.ones(1024, 1024, device="cuda")
    for i in range(n):
        row = table[i]
        yield i
# %%
rows = stream(1000)
next(rows)
finished = stream(3)
total = sum(finished)
