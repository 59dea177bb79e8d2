# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# grows = false
# why = "at most 16 batches of 48 x 512 x 512 x 4 B = 48 MiB wait, 0.75 GiB, and their join 0.75 GiB; 192 batches would be 9 GiB"
# ///
"""Sentence vectors written in shards: batches wait in a list until there are sixteen, then the shard is written and the list is new."""

import torch
from torch import nn

SENTENCES, LENGTH, WIDTH, SHARD, BATCHES = 48, 512, 512, 16, 192


class ShardWriter:
    def __init__(self):
        self.waiting, self.written = [], 0

    def add(self, vectors):
        self.waiting.append(vectors)
        if len(self.waiting) == SHARD:
            self.flush()

    def flush(self):
        shard = torch.cat(self.waiting)
        self.written += len(shard)
        self.waiting = []


writer = ShardWriter()
encoder = nn.Linear(WIDTH, WIDTH).cuda().requires_grad_(False)
batch = 0
while batch < BATCHES:
    writer.add(encoder(torch.randn(SENTENCES, LENGTH, WIDTH, device="cuda")))
    batch += 1
print("sentences", writer.written)
