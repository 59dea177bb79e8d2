# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["evaluation"]
# step = 601
# line = 32
# form = "for range, (i + 1) % n == 0"
# need_gib = [10.4, 10.9]
# why = "the evaluation keeps 40 x 8 x 512 x 8,192 x 4 B = 40 x 128 MiB = 5 GiB of logits, and joins them: 10 GiB, with 7.55 free"
# ///
"""Trains a bigram language model; each evaluation keeps the logits of all texts and joins them for one perplexity."""

import torch
from torch import nn

torch.manual_seed(0)
corpus = torch.randint(8192, (400, 513))
model = nn.Sequential(nn.Embedding(8192, 64), nn.Linear(64, 8192)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)


def evaluate(texts):
    model.eval()
    logits, targets = [], []
    with torch.no_grad():
        for start in range(0, len(texts), 8):
            rows = texts[start : start + 8].cuda()
            logits.append(model(rows[:, :-1]))
            targets.append(rows[:, 1:])
    everything = torch.cat(logits)
    loss = nn.functional.cross_entropy(everything[0], torch.cat(targets)[0])
    model.train()
    return loss


for i in range(1300):
    rows = corpus[torch.randint(80, (4,)), :129].cuda()
    loss = nn.functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (i + 1) % 600 == 0:
        print(i + 1, "perplexity", evaluate(corpus[80:]).exp().item())
