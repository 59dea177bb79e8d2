# /// expect
# run = "check"
# vram = "8GiB"
# kind = 6
# truth = "fits"
# verdict = ["fits"]
# need_gib = [1.4, 3.6]
# why = "the collator masks 0.3 % of 256 x 2048 tokens on the host: 1,573 rows x 32000 x 4 B = 0.19 GiB a copy; half of all tokens would be 31 GiB"
# ///
"""Masked language modelling where only the masked positions go through the vocabulary; the mask is drawn by the collator."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, LENGTH, WIDTH, VOCABULARY, STEPS = 256, 2048, 128, 32000, 3
PROBABILITY = 0.003


class Collator:
    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self):
        ids = torch.randint(5, VOCABULARY, (BATCH, LENGTH), generator=self.generator)
        chosen = torch.bernoulli(torch.full(ids.shape, PROBABILITY), generator=self.generator).bool()
        labels = ids.masked_fill(~chosen, -100)
        return ids.masked_fill(chosen, 4), labels


class MaskedLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.decoder = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids, labels):
        hidden = self.norm(self.embed(ids))
        masked = labels != -100
        return F.cross_entropy(self.decoder(hidden[masked]), labels[masked])


collate = Collator(0)
model = MaskedLM().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(STEPS):
    ids, labels = (t.cuda(non_blocking=True) for t in collate())
    loss = model(ids, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
