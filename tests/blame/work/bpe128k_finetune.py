# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "logits"
# first_finding = ["vocabulary-logits"]
# lines = [31, 40, 41]
# why = "4 x 1024 tokens x 128256 words x 4 B = 2004 MiB of logits, and cross_entropy's log_softmax as much: 4008 + 410 of 4096 MiB, next to the 126 MiB of the table; the rest is small"
# ///
"""Fine-tunes a tiny language model that keeps the tokenizer of a big one."""

import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY, WIDTH, BATCH, LENGTH = 128_256, 256, 4, 1024


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.mix = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.LayerNorm(WIDTH)
        )

    def forward(self, tokens):
        x = self.embed(tokens)
        mean = x.cumsum(dim=1) / torch.arange(1, x.shape[1] + 1, device=x.device)[:, None]
        return F.linear(self.mix(mean), self.embed.weight)


class Trainer:
    def __init__(self):
        self.model = TinyLM().cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def loss(self, tokens):
        logits = self.model(tokens[:, :-1])
        return F.cross_entropy(logits.reshape(-1, VOCABULARY), tokens[:, 1:].reshape(-1))

    def fit(self, steps):
        for step in range(steps):
            tokens = torch.randint(0, VOCABULARY, (BATCH, LENGTH + 1)).cuda()
            self.optimizer.zero_grad()
            loss = self.loss(tokens)
            loss.backward()
            self.optimizer.step()
            print(step, loss.item())


Trainer().fit(steps=10)
