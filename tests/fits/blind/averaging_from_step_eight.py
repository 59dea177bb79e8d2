# /// expect
# run = "check"
# vram = "7GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [8.3, 13]
# why = "weights 32 x 4096 x 4096 x 4 B = 2 GiB, gradients and momentum 4 GiB; the averaged model of step 8 adds 2 GiB"
# ///
"""Stochastic weight averaging with torch.optim.swa_utils, which begins at step 8."""

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

WIDTH, DEPTH, BATCH, BEGIN, STEPS = 4096, 32, 16, 8, 400


def network():
    layers = []
    for _ in range(DEPTH):
        layers += [nn.Linear(WIDTH, WIDTH, bias=False, device="cuda"), nn.Tanh()]
    return nn.Sequential(*layers)


model = network()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=False)
averaged = None
for step in range(1, STEPS + 1):
    x = torch.randn(BATCH, WIDTH, device="cuda")
    loss = (model(x) - x).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == BEGIN:
        averaged = AveragedModel(model)
    elif averaged is not None:
        averaged.update_parameters(model)
