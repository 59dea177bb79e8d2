"""Trains a multilayer perceptron on batches from a DataLoader with two workers."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WIDTH, LAYERS, BATCH = 2048, 8, 4096


def main():
    layers = [layer for _ in range(LAYERS) for layer in (nn.Linear(WIDTH, WIDTH, bias=False), nn.ReLU())]
    model = nn.Sequential(*layers, nn.Linear(WIDTH, 1, bias=False)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    dataset = TensorDataset(torch.randn(4 * BATCH, WIDTH))
    loader = DataLoader(dataset, batch_size=BATCH, shuffle=True, num_workers=2, prefetch_factor=2)
    for (features,) in loader:
        features = features.cuda(non_blocking=True)
        loss = model(features).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
