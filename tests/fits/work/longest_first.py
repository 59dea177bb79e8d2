# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [3.3, 6.0]
# why = "the longest batch comes first: logits 32 x 1024 x 8192 x 4 B = 1 GiB, log_softmax 1 GiB, two gradients; all others are shorter"
# ///
"""Trains on length-sorted batches, longest first, as fairseq does to run out of memory as soon as possible."""

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH, BATCH, LONGEST, SHORTEST, STEPS = 8192, 256, 32, 1024, 256, 64


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.convolve = nn.Conv1d(WIDTH, WIDTH, 5, padding=2)
        self.project = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        h = self.convolve(self.embed(ids).transpose(1, 2)).transpose(1, 2)
        return self.project(F.glu(torch.cat([h, h], -1), -1))


model = Decoder().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
for step in range(STEPS):
    length = LONGEST - (LONGEST - SHORTEST) * step // STEPS
    ids = torch.randint(VOCABULARY, (BATCH, length), device="cuda")
    loss = F.cross_entropy(model(ids).reshape(-1, VOCABULARY), ids.reshape(-1), label_smoothing=0.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
