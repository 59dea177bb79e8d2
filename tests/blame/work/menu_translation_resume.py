# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "loaded-twice"
# first_finding = ["weights-loaded-twice"]
# lines = [41, 42]
# saves_mib = 464
# why = "29 x 2048^2 x 4 B = 464 MiB of weights; with gradients and momentum 1392 MiB, and the checkpoint, loaded to the device and still named during training, another 464: 1856 + 410 of 2048 MiB"
# ///
"""Resumes training of a small model for menu translation from a checkpoint."""

import os
import tempfile

import torch
from torch import nn

WIDTH, DEPTH = 2048, 29


class Mixer(nn.Module):
    def __init__(self, device=None):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH, bias=False, device=device) for _ in range(DEPTH))

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.tanh(layer(x))
        return x


def write_checkpoint(path):
    weights = {name: torch.zeros(WIDTH, WIDTH) for name in Mixer(device="meta").state_dict()}
    torch.save({"model": weights, "epoch": 12}, path)


def resume(path):
    model = Mixer(device="cuda")
    checkpoint = torch.load(path, map_location="cuda")
    model.load_state_dict(checkpoint["model"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for step in range(6):
        source, target = torch.randn(2, 64, WIDTH).cuda()
        optimizer.zero_grad()
        loss = (model(source) - target).square().mean()
        loss.backward()
        optimizer.step()
        print("epoch", checkpoint["epoch"] + 1, "step", step, loss.item())


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "epoch12.pt")
    write_checkpoint(path)
    resume(path)
