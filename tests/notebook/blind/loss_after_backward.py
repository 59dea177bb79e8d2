# `backward` frees the saved tensors: 1 MiB of `exp`. The loss is left with 512 B and with the node of the leaf `w`, 1 MiB, whose
# gradient is 1 MiB more. `w` has a name, so the loss frees its own block and the name `w` frees nothing.
# row: loss variable 512+2*1024*1024 512
# row: w variable 2*1024*1024 0
# free: loss 512
# %%
import torch
x = torch.ones(512, 512, device="cuda")
w = torch.ones(512, 512, device="cuda", requires_grad=True)
# %%
loss = (w * x).exp().sum()
loss.backward()
