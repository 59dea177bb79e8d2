# /// expect
# run = "check"
# vram = "8GiB"
# kind = 3
# truth = "fits"
# verdict = ["fits"]
# need_gib = [2.9, 5.2]
# why = "every step has the same shapes: 8 layers x 0.125 GiB of saved inputs (16,384 x 2048 x 4 B) twice for GELU, and 0.5 GiB of weights, gradients and Adam"
# ///
"""Resumes a run: steps optimizer and scheduler through the finished epochs without gradients, then trains on."""

import torch
from torch import nn

TOKENS, WIDTH, DEPTH, FINISHED, STEPS = 16384, 2048, 8, 40, 200


class Feedforward(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        for _ in range(DEPTH):
            layers += [nn.Linear(WIDTH, WIDTH), nn.GELU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


model = Feedforward().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=FINISHED + STEPS)
for _ in range(FINISHED):
    optimizer.step()
    scheduler.step()
for step in range(STEPS):
    x = torch.randn(TOKENS, WIDTH, device="cuda")
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
