"""Collects the scores of a data set."""

import torch
from torch import nn
from torch.utils.data import DataLoader

loader = DataLoader(torch.randn(4096, 64), batch_size=1024)
model = nn.Linear(64, 8192).cuda()
model.eval()
scores = torch.empty(0, device="cuda")
with torch.no_grad():
    for x in loader:
        scores = torch.cat([scores, model(x.cuda())])
print(scores.shape)
