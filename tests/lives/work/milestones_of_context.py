# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["steps"]
# form = "for range, step in milestones"
# need_gib = [1.0, 2.5]
# why = "the context doubles at four milestones, from 128 to 2,048, while the batch halves: always 8,192 tokens with logits of 8,192 x 8,192 x 4 B = 256 MiB"
# ///
"""Context grows at milestones; the number of texts shrinks with it, so a step always has as many tokens."""

import torch
from torch import nn

milestones = [300, 600, 900, 1200]
context, texts = 128, 64
model = nn.Sequential(nn.Embedding(8192, 32), nn.Linear(32, 8192)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(1500):
    if step in milestones:
        context, texts = context * 2, texts // 2
    tokens = torch.randint(8192, (texts, context + 1), device="cuda")
    logits = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
