# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# search = false
# then = "never ran out"
# why = "the usual hand-written loop that halves the batch after OutOfMemoryError; here the first size fits"
# ///
"""Trains with a batch size that would be halved after an out-of-memory error, which never comes."""

import gc

import torch
import torch.nn.functional as F
from torch import nn

TOKENS, WIDTH, CLASSES = 1024, 4096, 16

model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, CLASSES)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)


def train_step(batch_size):
    x = torch.randn(batch_size, TOKENS, WIDTH, device="cuda")
    y = torch.randint(CLASSES, (batch_size, TOKENS), device="cuda")
    optimizer.zero_grad()
    F.cross_entropy(model(x).flatten(0, 1), y.flatten()).backward()
    optimizer.step()


batch_size, step = 64, 0
while step < 6:
    try:
        train_step(batch_size)
        step += 1
    except torch.cuda.OutOfMemoryError:
        if batch_size == 1:
            raise
        batch_size //= 2
        gc.collect()
        torch.cuda.empty_cache()
        print("out of memory, going on with batch size", batch_size)
print("trained with batch size", batch_size)
