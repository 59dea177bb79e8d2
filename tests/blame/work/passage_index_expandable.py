# /// expect
# run = "check"
# vram = "6GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "fragmentation"
# no_finding = ["fragmentation"]
# why = "12 shards of 300 MiB and one raw shard of 500 MiB, 4100 MiB; with expandable segments the holes of 200 MiB are one piece with what follows and the raw shard finds its 500 MiB"
# ///
"""Builds a dense passage index shard by shard on the GPU and asks it a question."""

import os

os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")

import torch

PASSAGES, RAW, COMPACT, SHARDS = 128_000, 1024, 614, 12


class PassageIndex:
    def __init__(self):
        self.shards = []

    def pool(self, shard):
        tokens = torch.empty(PASSAGES, RAW, device="cuda")
        tokens.normal_()
        return tokens.mean(dim=0), tokens.std(dim=0)

    def add(self, shard):
        mean, spread = self.pool(shard)
        vectors = torch.empty(PASSAGES, COMPACT, device="cuda")
        vectors.normal_().mul_(spread[:COMPACT]).add_(mean[:COMPACT])
        self.shards.append(vectors)

    def ask(self, question, k=5):
        best = [(vectors @ question).topk(k).values for vectors in self.shards]
        return torch.cat(best).topk(k).values


index = PassageIndex()
for shard in range(SHARDS):
    index.add(shard)
    print("shard", shard, "added")
print(index.ask(torch.randn(COMPACT, device="cuda")).shape)
