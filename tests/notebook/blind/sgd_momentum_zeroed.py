# SGD with momentum keeps one buffer of 1 MiB. `zero_grad` sets the gradient to None: the model is its weight of 1 MiB alone.
# row: model variable 1024*1024 0
# row: optimizer variable 2*1024*1024 1024*1024
# free: model 0
# %%
import torch
model = torch.nn.Linear(512, 512, bias=False, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
# %%
(model.weight * model.weight).sum().backward()
optimizer.step()
optimizer.zero_grad()
