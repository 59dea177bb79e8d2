# `forward` fails with three activations of 1 MiB in its frame. `x` is an argument and has a name: the traceback reaches 4 MiB and frees
# the three. The frame of the cell itself is the notebook's namespace, and `other` is no part of the traceback.
# fails: 2
# row: traceback traceback 4*1024*1024 3*1024*1024
# row: x variable 1024*1024 0
# row: other variable 5*1024*1024 5*1024*1024
# free: traceback 3*1024*1024
# %%
import torch
x = torch.ones(512, 512, device="cuda")
other = torch.ones(5, 512, 512, device="cuda")
def forward(x):
    a = x + 1
    b = a * 2
    c = b.exp()
    raise ValueError("wrong shape")
# %%
forward(x)
