# /// expect
# run = "check"
# vram = "8GiB"
# verdict = ["does not fit"]
# line = 22
# requested_bytes = 12884901888
# then = "dropped in a child process"
# why = "training scripts that start sampling or evaluation with multiprocessing's spawn and join it without a look at exitcode"
# ///
"""Trains a small language model; after each epoch a spawned process writes samples with a static KV cache."""

import torch
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH = 8192, 512
LAYERS, BATCH, HEADS, LENGTH, DIM = 48, 16, 32, 2048, 64


def sample(epoch):
    cache = torch.zeros(LAYERS, 2, BATCH, HEADS, LENGTH, DIM, dtype=torch.float16, device="cuda")
    tokens = torch.zeros(BATCH, 1, dtype=torch.long, device="cuda")
    print("epoch", epoch, "sampled", tuple(tokens.shape), "with a cache of", cache.nbytes, "bytes")


def main():
    context = mp.get_context("spawn")
    model = nn.Sequential(nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for epoch in range(5):
        tokens = torch.randint(VOCABULARY, (8, 256), device="cuda")
        loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        sampler = context.Process(target=sample, args=(epoch,))
        sampler.start()
        sampler.join()
    print("trained")


if __name__ == "__main__":
    main()
