# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# open = "fits: the counter is a variable of a closure, which a shortened loop does not follow"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "from the 200th tick on a page has 262,144 tokens: 4 x 262,144 x 256 x 4 B = 1 GiB for the embedding and 1 GiB for the linear layer, with 1.52 free"
# ///
"""Bag-of-tokens page classifier, longer pages later."""

import torch
from torch import nn


def clock(until, before, after):
    ticks = 0

    def tick():
        nonlocal ticks
        ticks += 1
        return before if ticks < until else after

    return tick


length = clock(200, 128, 1 << 18)
embed, mix, sort = nn.Embedding(9_000, 256).cuda(), nn.Linear(256, 256).cuda(), nn.Linear(256, 6).cuda()
everything = [p for part in (embed, mix, sort) for p in part.parameters()]
optimizer = torch.optim.Adadelta(everything)
for page in range(250):
    tokens = torch.randint(9_000, (4, length()), device="cuda")
    topic = torch.randint(6, (4,), device="cuda")
    pooled = torch.sigmoid(mix(embed(tokens))).mean(dim=1)
    loss = nn.functional.cross_entropy(sort(pooled), topic)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
