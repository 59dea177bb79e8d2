# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "in epoch 4 (step 320) a window has 128 x 4^4 = 32,768 tokens: 8 x 32,768 x 512 x 4 B = 512 MiB for the embedding, the hidden and the GELU, 1.5 GiB saved and 0.5 for a gradient, with 1.52 free"
# ///
"""Next-token tagger whose corpus widens its window each time the epoch is set."""

import torch
from torch import nn


class Corpus:
    def __init__(self, tokens=5000, batch=8):
        self.tokens, self.batch = tokens, batch
        self.epoch = 0

    @property
    def epoch(self):
        return self._epoch

    @epoch.setter
    def epoch(self, number):
        self._epoch = number
        self.window = 128 << (2 * number)

    def __iter__(self):
        for _ in range(80):
            yield torch.randint(self.tokens, (self.batch, self.window), device="cuda")


corpus = Corpus()
tagger = nn.Sequential(nn.Embedding(5000, 512), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 2)).cuda()
optimizer = torch.optim.Adagrad(tagger.parameters(), lr=0.01)
for number in range(5):
    corpus.epoch = number
    for tokens in corpus:
        optimizer.zero_grad()
        logits = tagger(tokens)
        nn.functional.cross_entropy(logits.flatten(0, 1), (tokens % 2).flatten()).backward()
        optimizer.step()
