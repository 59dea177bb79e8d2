"""A data set of 100 samples: the last batch of an epoch is what remains, and the number of steps depends on the batch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.zeros(100, 3, 64, 64), torch.zeros(100, dtype=torch.long))
loader = DataLoader(data, batch_size=8)
layers = [nn.Conv2d(3, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU()]
model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters())
steps = 0
while steps < 3:
    for images, labels in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images.cuda()), labels.cuda()).backward()
        optimizer.step()
        steps += 1
        if steps == 3:
            break
