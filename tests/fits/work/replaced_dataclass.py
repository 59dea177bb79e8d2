# /// expect
# run = "check"
# vram = "3GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [2.0, 2.75]
# says = ["48"]
# open = "the size that goes on is not named"
# why = "a session of 2048 events of width 1024 takes 8 MiB for a map; input, linear output, SiLU, norm and one gradient are five: 192 sessions need 7.5 GiB, 96 3.76 + 0.48, 48 1.88 + 0.48 of 3"
# ///
"""Trains a recommender with a frozen configuration; a smaller one replaces it after an error."""

from dataclasses import dataclass, replace

import torch
from torch import nn


@dataclass(frozen=True)
class Configuration:
    sessions: int = 192
    events: int = 2048
    width: int = 1024
    steps: int = 30


def build(c):
    return nn.Sequential(nn.Linear(c.width, c.width), nn.SiLU(), nn.LayerNorm(c.width), nn.Linear(c.width, 1)).cuda()


def run(c):
    net = build(c)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for _ in range(c.steps):
        events = torch.randn(c.sessions, c.events, c.width, device="cuda")
        loss = net(events).logsumexp(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def smaller(c):
    return replace(c, sessions=c.sessions // 2)


configuration = Configuration()
while configuration.sessions:
    try:
        run(configuration)
    except torch.OutOfMemoryError:
        fits = False
    else:
        fits = True
    if fits:
        break
    torch.cuda.empty_cache()
    configuration = smaller(configuration)
print(configuration)
