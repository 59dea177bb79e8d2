# /// expect
# run = "check"
# vram = "2GiB"
# kind = 4
# verdict = ["does not fit", "fits so far"]
# truth = "does not fit"
# full_at = [455, 500]
# why = "each of 2,500 steps adds 1536 x 512 x 4 B = 3 MiB to a deque of at most 5,000: 1.52 GiB are 515 of them, but a segment of 20 MiB (kLargeBuffer of CUDACachingAllocator.cpp) holds six: about 467"
# ///
"""World model with a very long memory of rollouts."""

from collections import deque

import torch
from torch import nn

memory = deque(maxlen=5_000)
dream = nn.GRU(512, 32).cuda()
optimizer = torch.optim.Adam(dream.parameters())
for step in range(2_500):
    memory.append(torch.randn(1536, 512, device="cuda"))
    rollout = memory[step // 2][:16].unsqueeze(1)
    states, _ = dream(rollout)
    loss = states.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
