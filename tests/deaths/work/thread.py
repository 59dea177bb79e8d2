# /// expect
# run = "run"
# vram = "4GiB"
# ends = "error"
# status = 1
# line = 24
# requested_bytes = 1610612736
# says_any = [24, "index"]
# culprit = 24
# ///
"""Builds an index in a thread, which runs out of memory and ends; the main thread then misses its result with a KeyError."""

import threading

import torch

results = {}
query = torch.zeros(64, 1536, device="cuda")


def build_index(shards):
    index = []
    for _ in range(shards):
        index.append(torch.zeros(262144, 1536, dtype=torch.float32, device="cuda"))
    results["index"] = index


builder = threading.Thread(target=build_index, args=(6,), name="index-builder")
builder.start()
builder.join()
scores = [query @ shard.T for shard in results["index"]]
print("scores", len(scores))
