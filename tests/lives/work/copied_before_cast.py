# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["load"]
# step = 1
# line = 24
# form = "for range within with, drop of a name"
# need_gib = [4.4, 4.9]
# why = "four tables of 131,072 x 1,024 x 4 B = 0.5 GiB, copied on the GPU before the copy is cast: 4 GiB with 2.55 free; the steps need the cast copy, 1 GiB"
# ///
"""Keeps the original of a network until its copy is cast to bfloat16, and trains a small scorer under autocast."""

import copy

import torch
from torch import nn


def load():
    with torch.device("cuda"):
        original = nn.ModuleList(nn.Embedding(131_072, 1024) for _ in range(4))
    cast = copy.deepcopy(original).bfloat16()
    return cast.requires_grad_(False)


bags = load()
scorer = nn.Linear(1024, 1).cuda()
optimizer = torch.optim.Adamax(scorer.parameters())
with torch.autocast("cuda", dtype=torch.bfloat16):
    for step in range(1000):
        ids = torch.randint(131_072, (16,), device="cuda")
        score = scorer(torch.stack([bag(ids) for bag in bags]).mean(0))
        loss = (score.float() - 0.5).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
