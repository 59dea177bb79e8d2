# /// expect
# run = "check"
# vram = "6GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "logits"
# no_finding = ["vocabulary-logits"]
# why = "the scores of 8192 tokens x 151936 words would be 4748 MiB and their loss three more of these; by checkpointed chunks of 512 tokens they are 297 MiB, four at a time 1190, next to 2 x 148 MiB of weights, as much of gradients and a body of some 200 MiB"
# ///
"""A small multilingual language model whose loss is taken over chunks of tokens."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

VOCABULARY, WIDTH, BATCH, LENGTH, CHUNK = 151936, 256, 8, 1024, 512


class GatedMixer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, 2 * width)

    def forward(self, x):
        value, gate = self.inner(self.norm(x)).chunk(2, dim=-1)
        return x + value.cumsum(dim=1) * torch.sigmoid(gate)


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.body = nn.Sequential(GatedMixer(WIDTH), GatedMixer(WIDTH))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def chunk_loss(self, x, target):
        return F.cross_entropy(self.head(x), target, reduction="sum")

    def forward(self, tokens, target):
        x, target = self.body(self.embed(tokens)).flatten(0, 1), target.flatten()
        total = 0.0
        for piece, words in zip(x.split(CHUNK), target.split(CHUNK)):
            total = total + checkpoint(self.chunk_loss, piece, words, use_reentrant=False)
        return total / len(target)


model = LanguageModel().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(2):
    tokens = torch.randint(0, VOCABULARY, (BATCH, LENGTH + 1)).cuda()
    loss = model(tokens[:, :-1], tokens[:, 1:])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"{step}: {loss.item():.3f}")
