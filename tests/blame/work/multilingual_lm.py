# /// expect
# run = "check"
# vram = "12GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "logits"
# first_finding = ["vocabulary-logits"]
# lines = [48, 56, 57, 58]
# why = "8 x 1024 tokens x 151936 words x 4 B = 4748 MiB for the scores, as much for log_softmax, and as much again twice in backward: 18992 MiB of 11878; the model has 2 x 148 MiB of weights and its body saves some 200 MiB"
# ///
"""A small multilingual language model with a large vocabulary."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Hyper:
    vocabulary: int = 151936
    width: int = 256
    batch: int = 8
    length: int = 1024
    steps: int = 3


class GatedMixer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, 2 * width)

    def forward(self, x):
        value, gate = self.inner(self.norm(x)).chunk(2, dim=-1)
        return x + value.cumsum(dim=1) * torch.sigmoid(gate)


class LanguageModel(nn.Module):
    def __init__(self, hyper):
        super().__init__()
        self.embed = nn.Embedding(hyper.vocabulary, hyper.width)
        self.body = nn.Sequential(GatedMixer(hyper.width), GatedMixer(hyper.width))
        self.head = nn.Linear(hyper.width, hyper.vocabulary, bias=False)

    def forward(self, tokens):
        return self.head(self.body(self.embed(tokens)))


hyper = Hyper()
model = LanguageModel(hyper).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(hyper.steps):
    tokens = torch.randint(0, hyper.vocabulary, (hyper.batch, hyper.length + 1)).cuda()
    scores = model(tokens[:, :-1])
    loss = F.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"{step}: {loss.item():.3f}")
