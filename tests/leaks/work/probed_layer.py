# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# grows = true
# verdict = ["fits"]
# loop = [32]
# keeps_mib = 24
# allocates = [34]
# full_at = [57, 65]
# why = "the hook keeps the 6144 x 1024 x 4 B = 24 MiB that the first layer gives, in each of 25 passes: 600 MiB; 1.52 GiB would be full at about pass 61"
# ///
"""Collects the activations of the first layer for a sparse probe, 25 batches."""

import torch
from torch import nn

stored = []


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(128, 1024), nn.Linear(1024, 2)

    def forward(self, x):
        return self.second(self.first(x).sin())


body = Body().cuda().requires_grad_(False)
body.first.register_forward_hook(lambda module, args, output: stored.append(output))
for number in range(25):
    batch = torch.randn(6144, 128, device="cuda")
    verdict = body(batch).argmax(1).sum().item()
print(len(stored), tuple(stored[0].shape))
