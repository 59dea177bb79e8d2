# Predictions under `no_grad` have no graph: a list of 4 results of 1 MiB. Copies on the CPU, numpy arrays and lists of numbers hold no
# memory of the GPU.
# row: predictions variable 4*1024*1024 4*1024*1024
# row: w variable 1024*1024 1024*1024
# absent: copies
# absent: arrays
# absent: numbers
# free: predictions 4*1024*1024
# %%
import torch
w = torch.ones(512, 512, device="cuda", requires_grad=True)
# %%
predictions = []
with torch.no_grad():
    for i in range(4):
        predictions.append((w * i).exp())
copies = [p.cpu() for p in predictions]
arrays = [c.numpy() for c in copies]
numbers = [p.mean().item() for p in predictions]
