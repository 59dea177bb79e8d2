# A weight of 512 x 512 x 4 B = 1 MiB, its gradient, and the two averages of Adam (Adam's step counter is on the CPU). The model reaches
# weight and gradient; the optimizer reaches all four, and alone frees its two averages. The model's weight is in the optimizer's groups.
# row: model variable 2*1024*1024 0
# row: optimizer variable 4*1024*1024 2*1024*1024
# free: optimizer 2*1024*1024
# %%
import torch
model = torch.nn.Linear(512, 512, bias=False, device="cuda")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
# %%
for p in model.parameters():
    (p * p).sum().backward()
optimizer.step()
del p
