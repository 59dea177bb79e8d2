# /// expect
# run = "check"
# vram = "11GiB"
# verdict = ["does not fit"]
# line = 24
# requested_bytes = 4294967296
# caught_line = 31
# then = "retried after empty_cache, and succeeded"
# why = "feature and KV caches that grow until the GPU is full, then are dropped, followed by empty_cache() and a second attempt"
# ///
"""Trains a probe on feature chunks that stay on the GPU until they no longer fit."""

import torch
import torch.nn.functional as F
from torch import nn

ROWS, WIDTH, CLASSES = 262144, 4096, 1024

chunks = {}


def load(index):
    if index not in chunks:
        chunks[index] = torch.randn(ROWS, WIDTH, device="cuda")
    return chunks[index]


def load_or_evict(index):
    try:
        return load(index)
    except torch.OutOfMemoryError:
        print("GPU full, dropping", len(chunks), "chunks")
        chunks.clear()
        torch.cuda.empty_cache()
    return load(index)


probe = nn.Linear(WIDTH, CLASSES).cuda()
optimizer = torch.optim.SGD(probe.parameters(), lr=0.1, momentum=0.9)

for index in range(6):
    features = load_or_evict(index)
    batch = features[:4096]
    labels = torch.randint(CLASSES, (4096,), device="cuda")
    optimizer.zero_grad()
    F.cross_entropy(probe(batch), labels).backward()
    optimizer.step()
    print("chunk", index, "done")
