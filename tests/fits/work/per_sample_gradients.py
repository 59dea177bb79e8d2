# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [10.2, 40]
# why = "at step 10 the gradient noise is measured: a gradient of 2048 x 2048 x 4 B = 16 MiB for each of 640 samples is 10 GiB"
# ///
"""Measures the gradient noise scale every ten steps with per-sample gradients by torch.func."""

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

WIDTH, SAMPLES, EVERY, STEPS = 2048, 640, 10, 300

model = nn.Sequential(nn.Linear(WIDTH, WIDTH, bias=False), nn.Tanh(), nn.Linear(WIDTH, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def sample_loss(parameters, x, y):
    return (functional_call(model, parameters, (x[None],)).squeeze() - y).square()


def noise_scale(x, y):
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    gradients = vmap(grad(sample_loss), in_dims=(None, 0, 0))(parameters, x, y)
    mean = sum(g.mean(0).square().sum() for g in gradients.values())
    return sum(g.var(0).sum() for g in gradients.values()) / mean


for step in range(1, STEPS + 1):
    x, y = torch.randn(SAMPLES, WIDTH, device="cuda"), torch.randn(SAMPLES, device="cuda")
    loss = (model(x).squeeze(1) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % EVERY == 0:
        print(step, noise_scale(x, y).item())
