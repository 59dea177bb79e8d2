# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "when get_lr is called for epoch 210 it takes the Gram matrix of 29,000 directions: 29,000^2 x 4 B = 3.13 GiB in one request, with 2.52 free"
# ///
"""Denoising autoencoder whose schedule measures the spread of random directions once."""

import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler


class CurvatureLR(LRScheduler):
    def __init__(self, optimizer, look_at):
        self.look_at, self.damping = look_at, 1.0
        super().__init__(optimizer)

    def get_lr(self):
        if self.last_epoch == self.look_at:
            directions = torch.randn(29_000, 48, device="cuda")
            gram = directions @ directions.T
            self.damping = 1.0 / (1.0 + gram.std().item())
        return [base * self.damping for base in self.base_lrs]


auto = nn.Sequential(nn.Linear(48, 20), nn.Mish(), nn.Linear(20, 48)).cuda()
optimizer = torch.optim.SGD(auto.parameters(), lr=0.02)
scheduler = CurvatureLR(optimizer, look_at=210)
for step in range(260):
    x = torch.randn(512, 48, device="cuda")
    optimizer.zero_grad()
    (auto(x + 0.1 * torch.randn_like(x)) - x).square().mean().backward()
    optimizer.step()
    scheduler.step()
