# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "loaded-twice"
# no_finding = ["weights-loaded-twice"]
# why = "the checkpoint's 58 x 2048 x 2048 x 4 B = 928 MiB are loaded to the device, but the model was built on meta and takes over the loaded tensors themselves (assign=True): 928 MiB once; a second copy would be 1856 of 1638 MiB"
# ///
"""Resumes a vocoder from its last checkpoint and synthesises a few seconds."""

import os
import tempfile

import torch
from torch import nn

WIDTH, LAYERS = 2048, 58


def build_vocoder(device):
    with torch.device(device):
        return nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)])


def earlier_run(path):
    torch.save({"step": 120_000, "vocoder": build_vocoder("cuda").state_dict()}, path)


def resume(path):
    vocoder = build_vocoder("meta")
    checkpoint = torch.load(path, map_location="cuda")
    vocoder.load_state_dict(checkpoint["vocoder"], assign=True)
    return vocoder.eval(), checkpoint["step"]


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "vocoder.pt")
    earlier_run(path)
    vocoder, step = resume(path)

with torch.no_grad():
    for second in range(3):
        frames = torch.randn(100, WIDTH, device="cuda")
        print(step, second, vocoder(frames).shape)
