# Two cells fail; the second traceback replaces the first. 2 MiB of the first are gone, 1 MiB of the second stays, and later cells that
# succeed change nothing. The last cell collects what IPython left in cycles of the first.
# fails: 2
# fails: 3
# absent: cycles
# row: traceback traceback 1024*1024 1024*1024
# free: traceback 1024*1024
# %%
import torch
def run(rows):
    hidden = torch.ones(rows, 512, device="cuda")
    return hidden.view(7, 3)
# %%
run(1024)
# %%
run(512)
# %%
import gc
count = gc.collect()
