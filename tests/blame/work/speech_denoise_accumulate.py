# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "graph-kept"
# first_finding = ["retained-graph"]
# lines = [31, 43, 44]
# why = "a micro-batch of 4096 frames saves about 10 tensors of 4096 x 2048 x 4 B = 32 MiB, 360 MiB; the losses of 24 micro-batches are summed and run backward once: 24 x 360 = 8640 of 5734 MiB, full at the 16th; one backward per micro-batch needs 360 MiB"
# ///
"""Speech denoiser with gradient accumulation over 24 micro-batches."""

import torch
from torch import nn

FRAMES, BINS, HIDDEN = 4096, 512, 2048
ACCUMULATE = 24


class MaskNet(nn.Module):
    def __init__(self):
        super().__init__()
        layers, width = [], BINS
        for _ in range(5):
            layers += [nn.Linear(width, HIDDEN), nn.GELU()]
            width = HIDDEN
        self.body = nn.Sequential(*layers)
        self.mask = nn.Linear(HIDDEN, BINS)

    def forward(self, spectrum):
        return torch.sigmoid(self.mask(self.body(spectrum))) * spectrum


def micro_batch():
    clean = torch.rand(FRAMES, BINS, device="cuda")
    return clean + 0.3 * torch.rand_like(clean), clean


def update(model, optimizer):
    total = 0.0
    for _ in range(ACCUMULATE):
        noisy, clean = micro_batch()
        estimate = model(noisy)
        total = total + nn.functional.l1_loss(estimate, clean) / ACCUMULATE
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    return total.item()


model = MaskNet().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(2):
    print(step, update(model, optimizer))
