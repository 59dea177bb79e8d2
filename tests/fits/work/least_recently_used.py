# /// expect
# run = "check"
# vram = "2GiB"
# kind = 4
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.3, 1.85]
# why = "67 scenes of 16 MiB at most, 66 after the pop: 1,072 MiB; 800 scenes would be 12.5 GiB"
# ///
"""Renders patches of scenes; an LRU of scenes lives on the device."""

from collections import OrderedDict

import torch
from torch import nn


class Scenes(OrderedDict):
    room = 66

    def fetch(self, name):
        if name in self:
            self.move_to_end(name)
        else:
            self[name] = torch.rand(4, 1024, 1024, device="cuda")
            if len(self) > self.room:
                self.popitem(last=False)
        return self[name]


scenes = Scenes()
render = nn.Conv2d(4, 3, 1).cuda()
optimizer = torch.optim.SGD(render.parameters(), lr=0.1)
for number in range(800):
    scene = scenes.fetch(f"scene-{number}")
    patch = scene[None, :, :32, :32]
    loss = (render(patch) - patch[:, :3]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
