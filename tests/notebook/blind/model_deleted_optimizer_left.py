# `del model` frees nothing while the optimizer holds the parameters: weight, gradient and two averages of 1 MiB each stay, 4 MiB.
# row: optimizer variable 4*1024*1024 4*1024*1024
# absent: model
# free: optimizer 4*1024*1024
# says: optimizer
# %%
import torch
def build():
    model = torch.nn.Linear(512, 512, bias=False, device="cuda")
    return model, torch.optim.AdamW(model.parameters())
model, optimizer = build()
# %%
(model.weight * model.weight).sum().backward()
optimizer.step()
# %%
del model
