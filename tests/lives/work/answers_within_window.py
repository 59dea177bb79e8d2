# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["generation"]
# form = "tqdm over range"
# need_gib = [2.4, 2.9]
# why = "the cache is a ring of 256 positions made once, 4 x 2 x 64 x 256 x 4,096 x 4 B = 2 GiB, however long the answers are"
# ///
"""Samples long answers while it trains; the cache of keys and values is a ring that never grows."""

import torch
from torch import nn
from tqdm import tqdm

WINDOW, WIDTH, LAYERS = 256, 4096, 4
embed = nn.Embedding(200, WIDTH).cuda()
mixers = nn.ModuleList(nn.Linear(WIDTH, 8) for _ in range(LAYERS)).cuda()
optimizer = torch.optim.SGD([*embed.parameters(), *mixers.parameters()], lr=1e-3)
ring = torch.zeros(LAYERS, 2, 64, WINDOW, WIDTH, device="cuda")


@torch.no_grad()
def sample(length):
    token = torch.zeros(64, dtype=torch.long, device="cuda")
    for position in range(length):
        x = embed(token)
        for layer in range(LAYERS):
            ring[layer, :, :, position % WINDOW] = x
            weights = torch.einsum("bd,bwd->bw", x, ring[layer, 0]).softmax(-1)
            x = torch.einsum("bw,bwd->bd", weights, ring[layer, 1])
        token = (x @ embed.weight.T).argmax(-1)
    return token


bar = tqdm(range(1500), desc="training")
for i in bar:
    x = embed(torch.randint(200, (8,), device="cuda"))
    loss = sum(mixer(x).square().mean() for mixer in mixers)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if i % 700 == 0 and i > 0:
        bar.set_postfix(last=sample(600)[0].item())
