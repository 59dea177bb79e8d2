# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "evaluation"
# first_finding = ["grad-recorded-in-eval", "retained-graph"]
# lines = [31, 23, 30]
# why = "a sampling step saves maps of 16 x 32 x 256 x 256 x 4 B = 128 MiB, two or more of them; 40 steps are chained by gradients that nobody wants: 10 GiB and more, with 2.52 free; under no_grad 0.4 GiB"
# ///
"""Trains a small denoiser for three steps and draws samples from it."""

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.leave = nn.Conv2d(3, 32, 3, padding=1), nn.Conv2d(32, 3, 3, padding=1)

    def forward(self, x, level):
        return self.leave(torch.nn.functional.silu(self.enter(x)) * level)


def sample(net, steps):
    net.eval()
    x = torch.randn(16, 3, 256, 256, device="cuda")
    for number in range(steps):
        noise = net(x, 1 - number / steps)
        x = x - noise / steps
    return x.clamp(0, 1).cpu()


net = Denoiser().cuda()
optimizer = torch.optim.Adam(net.parameters())
for step in range(3):
    clean = torch.rand(2, 3, 64, 64, device="cuda")
    noise = torch.randn_like(clean)
    optimizer.zero_grad()
    (net(clean + noise, 1.0) - noise).square().mean().backward()
    optimizer.step()
print(sample(net, steps=40).mean().item())
