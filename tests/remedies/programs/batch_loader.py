"""DataLoaders with their batch size written in place: one for training, one for evaluation."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

train_set = TensorDataset(torch.randn(4096, 1024), torch.randint(16, (4096,)))
test_set = TensorDataset(torch.randn(512, 1024), torch.randint(16, (512,)))
loader = DataLoader(train_set, batch_size=256, shuffle=True, drop_last=True)
test_loader = DataLoader(test_set, batch_size=256)

model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 16)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for features, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(features.cuda()), labels.cuda())
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        for features, labels in test_loader:
            print("test", features.shape[0], model(features.cuda()).argmax(1).shape)
