# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "activations"
# first_finding = ["batch-too-large", "need-exceeds-device", "one-huge-request"]
# lines = [26, 27, 28, 29, 36, 38]
# why = "four buckets have 32 texts of 64 tokens, the last 256 texts of 2,048: a map of 524,288 x 512 x 4 B is 1 GiB; embedding, norm, hidden and GELU are four, with 3.52 free; weights and Adam's state are 60 MiB"
# ///
"""Sentiment model over buckets of similar length, shortest first."""

import torch
from torch import nn

BUCKETS = [(32, 64)] * 4 + [(256, 2_048)]


class Sentiment(nn.Module):
    def __init__(self, words=6_000, width=512):
        super().__init__()
        self.embed, self.norm = nn.Embedding(words, width), nn.LayerNorm(width)
        self.hidden, self.out = nn.Linear(width, width), nn.Linear(width, 2)

    def forward(self, tokens):
        x = self.norm(self.embed(tokens))
        x = self.hidden(x)
        x = nn.functional.gelu(x)
        return self.out(x.mean(dim=1))


sentiment = Sentiment().cuda()
optimizer = torch.optim.Adam(sentiment.parameters(), lr=5e-4)
for texts, length in BUCKETS:
    tokens = torch.randint(6_000, (texts, length), device="cuda")
    loss = nn.functional.cross_entropy(sentiment(tokens), torch.randint(2, (texts,), device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
