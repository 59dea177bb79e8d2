# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["steps"]
# form = "for range, step % 16 == 0, a second backward"
# need_gib = [0.6, 2.4]
# why = "every sixteenth step has a gradient of the gradient: 8,192 x 2,048 x 4 B = 64 MiB for each activation, of which it has less than 25"
# ///
"""A critic with a lazy penalty on its gradient, every sixteenth step, as StyleGAN's R1."""

import torch
from torch import nn

critic = nn.Sequential(nn.Linear(32, 2048), nn.Softplus(), nn.Linear(2048, 1)).cuda()
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.0, 0.99))
for step in range(1700):
    real = torch.randn(8192, 32, device="cuda", requires_grad=step % 16 == 0)
    score = critic(real).mean()
    loss = nn.functional.softplus(-score)
    if step % 16 == 0:
        (slope,) = torch.autograd.grad(score, real, create_graph=True)
        loss = loss + 10 * slope.square().sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
