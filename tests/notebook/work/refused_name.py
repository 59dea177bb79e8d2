# An unknown name beside known ones: nothing is removed. `b` has all 6 MiB, 2 MiB of its own.
# row: a variable 4*1024*1024 0
# row: b variable 6*1024*1024 2*1024*1024
# row: c variable 2*1024*1024 2*1024*1024
# says: no variable, output or part `x` to free
# free: c 2*1024*1024
# fails: 2
# %%
import torch
a = torch.zeros(1024, 1024, device="cuda")
b = [a, torch.zeros(512, 1024, device="cuda")]
c = torch.zeros(512, 1024, device="cuda")
# %%
%oomph free a, c, x
