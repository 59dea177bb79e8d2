# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "when the scheduler asks for epoch 240 the function makes per-sample gradients, 4096 x 512 x 512 x 4 B = 4 GiB in one request, with 2.52 free"
# ///
"""Churn model; the length of the warm-up's plateau depends on the gradient noise scale at its end."""

import torch
from torch import nn

WARMUP = 240
model = nn.Sequential(nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 1)).cuda()
sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
noise = {"scale": 1.0}


def factor(epoch):
    if epoch < WARMUP:
        return (epoch + 1) / WARMUP
    if epoch == WARMUP:
        weight = model[0].weight
        per_sample = torch.randn(4096, *weight.shape, device=weight.device)
        noise["scale"] = per_sample.var(dim=0).mean().item()
    return min(1.0, noise["scale"])


schedule = torch.optim.lr_scheduler.LambdaLR(sgd, factor)
for _ in range(400):
    x = torch.randn(128, 512, device="cuda")
    sgd.zero_grad()
    nn.functional.softplus(-model(x) * x[:, :1].sign()).mean().backward()
    sgd.step()
    schedule.step()
