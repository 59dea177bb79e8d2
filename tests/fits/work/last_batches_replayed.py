# /// expect
# run = "check"
# vram = "2GiB"
# kind = 4
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.4, 1.85]
# why = "75 batches of 3840 x 1024 x 4 B = 15 MiB are 1,125 MiB (1,200 if each takes a segment of 16), the next one 15: 1.16 GiB and a context of 0.48; growth to the 900th step would be 13 GiB"
# ///
"""Continual learning on a stream: the last 75 batches stay on the device for rehearsal."""

import random
from collections import deque

import torch
from torch import nn

random.seed(0)
memory = deque(maxlen=75)
model = nn.Linear(1024, 16).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(900):
    memory.append(torch.rand(3840, 1024, device="cuda"))
    old = random.choice(memory)[:256]
    loss = model(old).logsumexp(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(len(memory), "batches at the end")
