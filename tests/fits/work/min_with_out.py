# /// expect
# run = "check"
# vram = "6GiB"
# kind = 8
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [26, 27]
# need_gib = [12, 22]
# why = "torch.min(out=) finds the shortest clip, 1,024 frames, and the buffer held 8 before: 64 x 1024 x 16,384 x 4 B = 4 GiB for the input, 4 GiB for the output"
# ///
"""Clips a batch of videos to the shortest; the minimum is written into buffers from the last batch."""

import torch
from torch import nn

CLIPS, SHORTEST, FEATURES, STEPS = 64, 1024, 16_384, 25

shortest = torch.full((), 8, device="cuda")
which = torch.zeros((), dtype=torch.long, device="cuda")
gain = nn.Parameter(torch.ones(FEATURES, device="cuda"))
optimizer = torch.optim.SGD([gain], lr=0.01)
for step in range(STEPS):
    frames = torch.randint(SHORTEST, 3 * SHORTEST, (CLIPS,))
    frames[step % CLIPS] = SHORTEST
    torch.min(frames.cuda(), dim=0, out=(shortest, which))
    features = torch.rand(CLIPS, int(shortest), FEATURES, device="cuda")
    loss = (features * gain).tanh().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
