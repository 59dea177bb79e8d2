# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "tensors-kept"
# first_finding = ["growing-collection", "saved-intermediates"]
# lines = [29, 18, 30]
# why = "each step leaves the gate's values of 24,576 x 512 x 4 B = 48 MiB in the default argument of `remember`; 1.52 GiB, of which a step needs some 250 MiB, are full at about step 27 of 600"
# ///
"""Mixture with a learned gate; a helper remembers the gate's openness for a figure."""

import torch
from torch import nn


def remember(value, shown=[]):  # noqa: B006
    shown.append(value)
    return len(shown)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.body = nn.Linear(32, 512), nn.Linear(32, 512)
        self.out = nn.Linear(512, 1)

    def forward(self, x):
        openness = torch.sigmoid(self.gate(x))
        remember(openness.detach())
        return self.out(openness * self.body(x))


gated = Gated().cuda()
optimizer = torch.optim.Adam(gated.parameters())
for step in range(600):
    x = torch.randn(24_576, 32, device="cuda")
    loss = (gated(x) - x[:, :1]).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
