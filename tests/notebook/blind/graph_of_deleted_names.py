# `h`, `x` and `w` are deleted and `loss` is kept. The graph still holds the result of `exp` (4 MiB), the factor `x` (4 MiB) and the
# leaf `w` (4 MiB): with the scalar 12 MiB + 512 B, and all of these go with `loss`.
# row: loss variable 12*1024*1024+512 12*1024*1024+512
# absent: h
# absent: x
# absent: w
# free: loss 12*1024*1024+512
# %%
import torch
x = torch.ones(1024, 1024, device="cuda")
w = torch.ones(1024, 1024, device="cuda", requires_grad=True)
h = (w * x).exp()
loss = h.mean()
# %%
del h, x, w
