# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [9.4, 13]
# why = "weights 24 x 4096 x 4096 x 4 B = 1.5 GiB, gradients 1.5, moments 3: 6 GiB; from step 10 an EMA copy of 1.5 GiB and a second one of 1.5 GiB"
# ///
"""Diffusion training that begins its two exponential averages of the weights after ten steps."""

import copy

import torch
from torch import nn

WIDTH, DEPTH, BATCH, EMA_START, STEPS = 4096, 24, 64, 10, 1000


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH, bias=False, device="cuda") for _ in range(DEPTH)])

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.tanh(layer(x))
        return x


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.model = copy.deepcopy(model).eval().requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for averaged, current in zip(self.model.parameters(), model.parameters()):
            averaged.lerp_(current, 1 - self.decay)


model = Denoiser()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=False)
averages = []
for step in range(STEPS):
    clean = torch.randn(BATCH, WIDTH, device="cuda")
    noise = torch.randn_like(clean)
    level = torch.rand(BATCH, 1, device="cuda")
    loss = (model((1 - level) * clean + level * noise) - noise).square().mean()
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
    if step == EMA_START:
        averages = [EMA(model, decay) for decay in (0.999, 0.9999)]
    for average in averages:
        average.update(model)
