"""Trains layers whose activations share their input with other code, or need the input themselves."""

import torch
from torch import nn

WIDTH, LAYERS, BATCH = 2048, 4, 4096


class Gated(nn.Module):
    """A linear layer, and what a leaky ReLU makes of it added to it."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH, bias=False)
        self.activation = nn.LeakyReLU()

    def forward(self, x):
        x = self.linear(x)
        return x + self.activation(x)


class Swish(nn.Module):
    """A linear layer and a SiLU."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH, bias=False)
        self.activation = nn.SiLU()

    def forward(self, x):
        return self.activation(self.linear(x))


model = nn.Sequential(*[block() for _ in range(LAYERS) for block in (Gated, Swish)], nn.Linear(WIDTH, 1, bias=False)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

for step in range(10):
    features = torch.randn(BATCH, WIDTH, device="cuda")
    loss = model(features).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
