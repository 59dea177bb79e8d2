# /// expect
# run = "check"
# vram = "6GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "evaluation"
# no_finding = ["grad-recorded-in-eval"]
# why = "no no_grad, but no parameter asks for a gradient either, so nothing is saved: weights of 450 MiB and three tensors of 32768 x 4096 x 4 B = 512 MiB at a time; with a graph eight layers would save 8192 of 5734 MiB"
# ///
"""Validates a trained power curve whose weights have been frozen."""

import torch
from torch import nn

FEATURES, HIDDEN, LAYERS = 128, 4096, 8


class PowerCurve(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [FEATURES] + [HIDDEN] * LAYERS
        self.layers = nn.ModuleList(nn.Linear(a, b, device="cuda") for a, b in zip(widths, widths[1:]))
        self.out = nn.Linear(HIDDEN, 1, device="cuda")

    def forward(self, x):
        for layer in self.layers:
            x = nn.functional.gelu(layer(x))
        return self.out(x)


def batches(count, size):
    for _ in range(count):
        yield torch.randn(size, FEATURES).cuda(), torch.rand(size, 1).cuda()


def trained_model():
    model = PowerCurve()
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    return model.eval()


def validate(model):
    errors = []
    for weather, power in batches(4, 32768):
        errors.append((model(weather) - power).abs().mean().item())
    return sum(errors) / len(errors)


print(validate(trained_model()))
