# 4 MiB in a traceback, 2 MiB in an output, 2 MiB in a cycle; `x` stays.
# fails: 3
# free: traceback 4*1024*1024+2*1024*1024
# free: Out[2] 2*1024*1024
# free: x 2*1024*1024
# %%
import gc
import torch
gc.disable()
x = torch.zeros(512, 1024, device="cuda")
# %%
x * 2
# %%
def fail():
    batch = torch.zeros(1024, 1024, device="cuda")
    loop = [torch.zeros(512, 1024, device="cuda")]
    loop.append(loop)
    del loop
    raise ValueError("stop")
fail()
