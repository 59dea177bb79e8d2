"""Collects the scores of a data set."""

import torch
from torch import nn
from torch.utils.data import DataLoader

loader = DataLoader(torch.randn(6144, 64), batch_size=1024)
model = nn.Linear(64, 256).cuda()
model.eval()
scores = []
with torch.no_grad():
    for x in loader:
        scores.append(model(x.cuda()))
print(torch.cat(scores).shape)
