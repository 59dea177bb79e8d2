# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["generation", "evaluation"]
# step = 701
# line = 28
# form = "while True with break"
# need_gib = [4.5, 9.0]
# why = "a token adds 2 x 64 x 1,024 x 4 B = 512 KiB to the cache of each of 8 layers: 4 GiB after 1,024 tokens, and cat holds a layer's half twice; 2.55 GiB are free"
# ///
"""Trains a decoder, and samples 64 long answers after every 700 steps; the keys and values of all tokens are joined by cat."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, past=None):
        q, *fresh = self.qkv(x).chunk(3, dim=-1)
        if past is not None:
            fresh = [torch.cat((old, new), dim=1) for old, new in zip(past, fresh)]
        weights = (q @ fresh[0].transpose(1, 2) / 32).softmax(-1)
        return x + self.out(weights @ fresh[1]), fresh


embed = nn.Embedding(1000, 1024).cuda()
blocks = nn.ModuleList(Block(1024) for _ in range(8)).cuda()
optimizer = torch.optim.SGD([*embed.parameters(), *blocks.parameters()], lr=1e-3)


@torch.no_grad()
def sample(count, length):
    token = torch.zeros(count, 1, dtype=torch.long, device="cuda")
    caches = [None] * len(blocks)
    for _ in range(length):
        x = embed(token)
        for n, block in enumerate(blocks):
            x, caches[n] = block(x, caches[n])
        token = (x @ embed.weight.T).argmax(-1)
    return token


step = 0
while True:
    x = embed(torch.randint(1000, (2, 16), device="cuda"))
    for block in blocks:
        x, _ = block(x)
    loss = x.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 700 == 0:
        sample(64, 1025)
    if step >= 1000:
        break
