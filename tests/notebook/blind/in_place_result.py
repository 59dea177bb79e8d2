# `zero_` returns its tensor: a cell that ends so puts the tensor itself, not a copy, into Out[2]. With a semicolon nothing is kept.
# row: x variable 1024*1024 0
# row: Out[2] output 1024*1024 0
# absent: Out[3]
# free: x 1024*1024
# %%
import torch
x = torch.ones(512, 512, device="cuda")
# %%
x.zero_()
# %%
x.zero_();
