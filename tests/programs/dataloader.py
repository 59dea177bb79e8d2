"""DataLoader with two workers and pinned memory, batches moved with non_blocking=True."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    data = TensorDataset(torch.randn(256, 3, 32, 32), torch.randint(10, (256,)))
    loader = DataLoader(data, batch_size=32, num_workers=2, pin_memory=True)
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        assert x.is_pinned() and y.is_pinned()
        x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
