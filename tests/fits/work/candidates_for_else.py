# /// expect
# run = "check"
# vram = "6GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [3.6, 5.7]
# says = ["20"]
# why = "a text of 512 tokens over 32,000 words takes 62.5 MiB of scores; scores, their log-softmax and the gradient are 187.5 MiB: 64 texts need 11.7 GiB, 40 7.3, 20 3.66 + 0.25 for weights and AdamW + 0.48, of 6; the cache beside it is not in the sum, and at most a third of it"
# ///
"""Language model on the largest batch of a list with which two steps get through."""

import gc

import torch
import torch.nn.functional as F
from torch import nn

WORDS, WIDTH, LENGTH = 32_000, 256, 512
model = nn.Sequential(nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WORDS, bias=False)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


def steps(texts, count):
    for _ in range(count):
        tokens = torch.randint(WORDS, (texts, LENGTH), device="cuda")
        loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


for texts in (64, 40, 20, 4):
    try:
        steps(texts, 2)
    except torch.cuda.OutOfMemoryError:
        print(texts, "is too large")
    else:
        break
    gc.collect()
    torch.cuda.empty_cache()
else:
    raise SystemExit("no batch fits")
steps(texts, 50)
