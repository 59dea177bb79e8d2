# /// expect
# run = "check"
# vram = "8GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits"]
# need_gib = [3.4, 7.9]
# why = "logits of the whole batch of 128 are 128 x 1024 x 8192 x 4 B = 4 GiB, three times in backward; with two micro-batches 2 GiB each, 6 GiB in all, if no gradient of 8 MiB splits one of these blocks; with four 3 GiB in all"
# ///
"""Doubles the number of micro-batches in the handler until one update gets through, then goes on."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, LENGTH, VOCABULARY, WIDTH, UPDATES = 128, 1024, 8192, 256, 100


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.accum = 1

    def update(self, ids):
        self.optimizer.zero_grad()
        for part in ids.chunk(self.accum):
            loss = F.cross_entropy(self.model(part).flatten(0, 1), part.flatten()) / self.accum
            loss.backward()
        self.optimizer.step()

    def robust_update(self, ids):
        while self.accum <= BATCH:
            try:
                return self.update(ids)
            except torch.OutOfMemoryError:
                self.accum *= 2
                print("accumulating over", self.accum)
            torch.cuda.empty_cache()
        raise RuntimeError("one row does not fit")


trainer = Trainer()
for _ in range(UPDATES):
    trainer.robust_update(torch.randint(VOCABULARY, (BATCH, LENGTH), device="cuda"))
