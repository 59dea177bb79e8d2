# A variable `cache` of 2 MiB, and a module `traceback`: the row's name frees the variable, and the traceback is no module.
# fails: 2
# row: cache variable 2*1024*1024 2*1024*1024
# row: traceback traceback 4*1024*1024 4*1024*1024
# free: traceback 4*1024*1024
# free: cache 2*1024*1024
# free: cache 0
# %%
import torch
import traceback
cache = {1: torch.zeros(512, 1024, device="cuda")}
# %%
def fail():
    batch = torch.zeros(1024, 1024, device="cuda")
    raise ValueError("stop")
fail()
