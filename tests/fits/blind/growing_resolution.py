# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [12, 40]
# why = "from step 5 images have 1024 x 1024: 16 x 64 x 1024 x 1024 x 4 B = 4 GiB for each of two kept outputs; before that 256 x 256, 0.25 GiB"
# ///
"""Progressive growing: four steps at 256 x 256, the rest at 1024 x 1024."""

import torch
from torch import nn

BATCH, CHANNELS = 16, 64
STAGES = [(256, 4), (1024, 1000)]


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(8, CHANNELS, 3, padding=1)
        self.second = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
        self.rgb = nn.Conv2d(CHANNELS, 3, 1)

    def forward(self, noise):
        return self.rgb(torch.relu(self.second(torch.relu(self.first(noise)))))


generator = Generator().cuda()
optimizer = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.0, 0.99))
for size, steps in STAGES:
    for _ in range(steps):
        image = generator(torch.randn(BATCH, 8, size, size, device="cuda"))
        loss = torch.nn.functional.softplus(-image).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
