# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# kind = 4
# why = "every 70 steps a new year is looked up, whose prototypes of 420 x 1024 x 256 x 4 B = 420 MiB stay: the fourth, at step 211, would make 1,680 MiB of 1,556"
# ///
"""Dates paintings by prototypes of five periods, made when a period is first seen."""

import torch
from torch import nn


class Prototypes(dict):
    def __missing__(self, period):
        self[period] = made = torch.randn(420 * 1024, 256, device="cuda")
        return made


prototypes = Prototypes()
embed = nn.Linear(100, 256).cuda()
optimizer = torch.optim.Adam(embed.parameters(), lr=1e-4)
for step in range(350):
    bank = prototypes[1500 + 100 * (step // 70)]
    near = bank[torch.randint(len(bank), (64,), device="cuda")]
    strokes = embed(torch.rand(64, 100, device="cuda"))
    loss = (1 - nn.functional.cosine_similarity(strokes, near)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
