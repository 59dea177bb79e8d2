# A displayed tensor of 8 MiB stays in Out[2], in `_2` and in `__` after `del x`; another cell's result, an int, is `_`. IPython's names
# for one output are one holder, so the output frees all.
# row: Out[2] output 8*1024*1024 8*1024*1024
# absent: x
# absent: Out[3]
# free: Out[2] 8*1024*1024
# %%
import torch
x = torch.zeros(2048, 1024, device="cuda")
# %%
x
# %%
1 + 1
# %%
del x
