# The remedy of a list of losses: `detach` keeps three scalars of 512 B. `loss` is the last, with its graph: `exp` saved 1 MiB, the
# product saved `x`, the leaf is `w`. The scalar of the last loss is shared by `loss` and the list.
# row: losses variable 3*512 2*512
# row: loss variable 512+3*1024*1024 1024*1024
# free: loss 1024*1024
# %%
import torch
x = torch.ones(512, 512, device="cuda")
w = torch.ones(512, 512, device="cuda", requires_grad=True)
losses = []
# %%
for step in range(3):
    loss = (w * x).exp().sum()
    losses.append(loss.detach())
