# /// expect
# run = "check"
# vram = "3GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "graph-kept"
# no_finding = ["retained-graph"]
# why = "the history holds the losses with their graphs, but backward has freed what they saved: a step needs its 360 MiB only, with weights, gradients and moments of 72 MiB each; 12 graphs of 360 MiB would be 4320 of 2662 MiB"
# ///
"""Speech denoiser that keeps a history of its losses."""

import torch
from torch import nn

FRAMES, BINS, HIDDEN = 4096, 512, 2048


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


def train(model, optimizer, steps):
    history = []
    for _ in range(steps):
        noisy, clean = micro_batch()
        loss = nn.functional.l1_loss(model(noisy), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss)
    return history


model = MaskNet().cuda()
history = train(model, torch.optim.Adam(model.parameters(), lr=1e-3), steps=12)
print(torch.stack(history).mean().item())
