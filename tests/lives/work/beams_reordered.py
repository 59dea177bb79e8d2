# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["generation", "evaluation", "next-epoch"]
# step = 801
# line = 36
# form = "epochs x range, generation after an epoch"
# need_gib = [6.4, 7.2]
# why = "the cache of 64 x 8 beams has 512 x 512 x 2,048 x 2 B = 1 GiB in each of three layers; every token reorders each by index_select, with the old one alive beside it until all are new: 6 GiB with 4.55 free"
# ///
"""Captioning: an epoch of training, then a beam search whose caches are reordered after every token."""

import torch
from torch import nn

BEAMS, TEXTS, LENGTH, WIDTH = 8, 64, 512, 2048
embed = nn.Embedding(400, WIDTH, device="cuda")
layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH, device="cuda") for _ in range(3))
optimizer = torch.optim.SGD([*embed.parameters(), *layers.parameters()], lr=1e-3)


@torch.inference_mode()
def search(tokens):
    caches = [torch.zeros(TEXTS * BEAMS, LENGTH, WIDTH, device="cuda", dtype=torch.half) for _ in layers]
    beam = torch.zeros(TEXTS * BEAMS, dtype=torch.long, device="cuda")
    for position in range(tokens):
        x = embed(beam)
        for cache, layer in zip(caches, layers):
            x = layer(x)
            cache[:, position] = x.half()
        scores = x @ embed.weight.T
        beam = scores.argmax(-1)
        order = torch.arange(TEXTS * BEAMS, device="cuda").roll(position)
        caches = [cache.index_select(0, order) for cache in caches]
    return beam.view(TEXTS, BEAMS)[:, 0]


for epoch in range(2):
    for _ in range(800):
        x = embed(torch.randint(400, (12,), device="cuda"))
        for layer in layers:
            x = torch.relu(layer(x))
        loss = x.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, search(60)[:4])
