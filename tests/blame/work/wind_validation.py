# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "evaluation"
# first_finding = ["grad-recorded-in-eval"]
# lines = [50, 29]
# saves_mib = 6156
# why = "validation has 4 times the batch of training and no no_grad: a layer saves its input and its GELU's, 2 x 32768 x 4096 x 4 B = 2 x 512 MiB, eight layers 8192 MiB of 7782, with weights and momentum (450 MiB each) and gradients 9567; training saves 2048 MiB and peaks at 3411; a validation without a graph needs about 2400"
# ///
"""Power curve of a wind farm, trained with a validation after each epoch."""

import torch
from torch import nn

FEATURES, HIDDEN, LAYERS = 128, 4096, 8


class PowerCurve(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [FEATURES] + [HIDDEN] * LAYERS
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.out = nn.Linear(HIDDEN, 1)

    def forward(self, x):
        for layer in self.layers:
            x = nn.functional.gelu(layer(x))
        return self.out(x)


def batches(count, size):
    for _ in range(count):
        yield torch.randn(size, FEATURES).cuda(), torch.rand(size, 1).cuda()


def train_epoch(model, optimizer):
    model.train()
    for weather, power in batches(3, 8192):
        loss = nn.functional.mse_loss(model(weather), power)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def validate(model):
    model.eval()
    errors = [(model(weather) - power).abs().mean().item() for weather, power in batches(2, 32768)]
    return sum(errors) / len(errors)


model = PowerCurve().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
for epoch in range(2):
    print(epoch, train_epoch(model, optimizer), validate(model))
