# /// expect
# run = "check"
# vram = "1.3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "loaded-twice"
# first_finding = ["weights-loaded-twice"]
# lines = [24, 25, 26]
# saves_mib = 768
# why = "the net has 24 x 2048 x 2048 x 4 B = 384 MiB; the checkpoint on the device has weights and their average, 768 MiB, and stays on the attribute: 1152 of 840 MiB; without it 384"
# ///
"""Restores a colour net from a checkpoint with weights and their average, and uses the average."""

import torch
from torch import nn


def layers():
    return [nn.Linear(2048, 2048, bias=False) for _ in range(24)]


class Restorer:
    def __init__(self, path):
        self.checkpoint = torch.load(path, map_location=lambda storage, place: storage.cuda())
        self.net = nn.Sequential(*layers()).to("cuda")
        self.net.load_state_dict(self.checkpoint["average"])
        self.step = self.checkpoint["step"]

    @torch.no_grad()
    def colours(self, grey):
        return self.net(grey.cuda()).cpu()


weights = nn.Sequential(*layers()).state_dict()
torch.save({"step": 7, "model": weights, "average": {k: v * 0.5 for k, v in weights.items()}}, "colour.pt")
restorer = Restorer("colour.pt")
for photo in range(4):
    print(restorer.step, restorer.colours(torch.rand(64, 2048)).mean().item())
