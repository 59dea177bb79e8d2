# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "fragmentation"
# first_finding = ["fragmentation"]
# lines = [23, 25, 29]
# why = "a shard's raw features are 500 MiB; they are freed before the 300 MiB of projected vectors are made, which are cut out of that segment and leave 200 MiB that nothing uses: at the thirteenth shard 12 x 300 MiB are allocated in 6000 MiB that are reserved and more; in one piece 3600 + 500 MiB would do"
# ///
"""Builds a dense passage index shard by shard on the GPU and asks it a question."""

import torch

PASSAGES, RAW, COMPACT, SHARDS = 128_000, 1024, 614, 14


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
