# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "loaded-twice"
# first_finding = ["weights-loaded-twice"]
# lines = [34, 33]
# saves_mib = 928
# why = "the weights are 58 x 2048 x 2048 x 4 B = 928 MiB; the model is on the device already and torch.load puts the checkpoint there as well: 1856 of 1638 MiB; with the checkpoint on the CPU it is 928"
# ///
"""Resumes a vocoder from its last checkpoint and synthesises a few seconds."""

import os
import tempfile

import torch
from torch import nn

WIDTH, LAYERS = 2048, 58


def build_vocoder():
    with torch.device("cuda"):
        return nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)])


def earlier_run(path):
    torch.save({"step": 120_000, "vocoder": build_vocoder().state_dict()}, path)


def resume(path):
    vocoder = build_vocoder()
    checkpoint = torch.load(path, map_location="cuda")
    vocoder.load_state_dict(checkpoint["vocoder"])
    return vocoder.eval(), checkpoint["step"]


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "vocoder.pt")
    earlier_run(path)
    vocoder, step = resume(path)

with torch.no_grad():
    for second in range(3):
        frames = torch.randn(100, WIDTH, device="cuda")
        print(step, second, vocoder(frames).shape)
