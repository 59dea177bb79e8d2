# /// expect
# run = "check"
# vram = "6GiB"
# kind = 8
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [38, 40]
# need_gib = [8.5, 30]
# open = "needs 32.50 GiB, expected 8.5..30"
# why = "torch.median(out=) writes 2,048 into the buffer: 64 x 2,048 x 16,384 x 4 B = 8 GiB of logits, cut to the median length"
# ///
"""Cuts every batch to the median length, which is written into a buffer that is kept."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, MEDIAN, LONGEST, VOCABULARY, WIDTH, STEPS = 64, 2048, 4096, 16_384, 64, 30


class MedianCut:
    def __init__(self):
        self.value = torch.zeros(1, dtype=torch.long, device="cuda")
        self.index = torch.zeros(1, dtype=torch.long, device="cuda")

    def __call__(self, lengths, ids):
        torch.median(lengths, 0, True, out=(self.value, self.index))
        return ids[:, : self.value.item()]


cut = MedianCut()
model = nn.Sequential(nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(STEPS):
    lengths = torch.full((BATCH,), MEDIAN)
    lengths[: BATCH // 4], lengths[-BATCH // 4 :] = 100, LONGEST
    ids = cut(lengths.cuda(), torch.randint(VOCABULARY, (BATCH, LONGEST), device="cuda"))
    loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
