# Weights of 4 MiB; SGD without momentum keeps nothing but the parameters.
# row: model variable 4*1024*1024 0
# row: optimizer variable 4*1024*1024 0
# says: also held by `optimizer`
# says: `%oomph free model optimizer` frees 4.00 MiB
# free: model 0
# free: optimizer 4*1024*1024
# %%
import torch
model = torch.nn.Linear(1024, 1024, bias=False, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
