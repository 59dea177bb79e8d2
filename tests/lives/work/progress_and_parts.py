# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["evaluation"]
# step = 301
# line = 43
# open = "stage steps, expected evaluation"
# form = "own progress wrapper around enumerate, accumulation, updates counted in the branch"
# need_gib = [7.4, 8.3]
# why = "after 300 updates of four parts 28 batches of distances, 4,096 x 16,384 x 4 B = 256 MiB each, are kept: 7 GiB with 4.55 free"
# ///
"""Learns prototypes with accumulated gradients; a wrapper prints the progress, and the loop counts updates itself."""

import torch
from torch import nn


class Progress:
    def __init__(self, things, every):
        self.things, self.every = things, every

    def __iter__(self):
        for number, thing in enumerate(self.things):
            if number % self.every == 0:
                print("part", number)
            yield thing


prototypes = nn.Parameter(torch.randn(16_384, 24, device="cuda"))
optimizer = torch.optim.SGD([prototypes], lr=0.1)
parts, updates = [torch.full((4, 24), k / 100) for k in range(1600)], 0
for i, part in enumerate(Progress(parts, 400)):
    distance = part.cuda() @ prototypes[:512].T
    (-distance.amax(1).mean() / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
        updates += 1
        if updates % 300 == 0:
            with torch.no_grad():
                kept = [torch.randn(4096, 24, device="cuda") @ prototypes.T for _ in range(28)]
            print("spread", torch.stack([distances.amax() for distances in kept]).std().item())
            del kept
