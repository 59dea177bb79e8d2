# Two layers share one weight of 4 MiB.
# row: model variable 4*1024*1024 4*1024*1024
# free: model 4*1024*1024
# %%
import torch
model = torch.nn.Sequential(torch.nn.Embedding(1024, 1024, device="cuda"), torch.nn.Linear(1024, 1024, bias=False, device="cuda"))
model[1].weight = model[0].weight
