# Each loss keeps its graph: `exp` saves its result, 1 MiB, and the product saves `x`, 1 MiB for all steps together. The graph ends in the
# node of the leaf `w`, 1 MiB. A scalar is a block of 512 B. Three losses reach 3 x (1 MiB + 512 B) + x + w. `loss` is the last of the
# list: the list alone frees the other two. `w` and `x` have names of their own.
# row: losses variable 3*(1024*1024+512)+2*1024*1024 2*(1024*1024+512)
# row: loss variable 1024*1024+512+2*1024*1024 0
# row: w variable 1024*1024 0
# row: x variable 1024*1024 0
# free: losses 2*(1024*1024+512)
# %%
import torch
x = torch.ones(512, 512, device="cuda")
w = torch.ones(512, 512, device="cuda", requires_grad=True)
losses = []
# %%
for _ in range(3):
    loss = (w * x).exp().sum()
    losses.append(loss)
