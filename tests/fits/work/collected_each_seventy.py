# /// expect
# run = "check"
# vram = "2GiB"
# kind = 4
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.2, 1.8]
# why = "an episode's graph of nodes refers to itself and holds 14 MiB; 70 of them are 980 MiB when gc.collect() frees them all"
# ///
"""Planning with a graph of beliefs; the collector runs every seventy episodes to keep latency even."""

import gc

import torch
from torch import nn

gc.disable()


class Belief:
    def __init__(self, particles):
        self.particles = particles
        self.next = self  # closed until a successor is known


transition = nn.Linear(7, 7).cuda()
optimizer = torch.optim.Adam(transition.parameters())
for episode in range(700):
    belief = Belief(torch.randn(1 << 19, 7, device="cuda"))
    guess = transition(belief.particles[:512])
    loss = (guess - belief.particles[:512].roll(1, 0)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if episode % 70 == 69:
        gc.collect()
