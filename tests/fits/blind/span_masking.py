# /// expect
# run = "check"
# vram = "9GiB"
# kind = 6
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [36, 45]
# need_gib = [13, 21]
# why = "spans of the host mask 90 % of 160 x 1024 tokens: 147,360 rows x 8192 x 4 B = 4.5 GiB of logits, log_softmax as much, then their gradients; half of the tokens would need 7.5 GiB in backward, and fit"
# ///
"""Spans are masked on the host as in T5, nine tenths of the text; only masked tokens are predicted."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, LENGTH, VOCABULARY, WIDTH, SPAN, STEPS = 160, 1024, 8192, 256, 10, 40


def corrupt(ids):
    mask = torch.ones_like(ids, dtype=torch.bool)
    mask[:, ::SPAN] = False
    return ids.masked_fill(mask, 1), ids.masked_fill(~mask, -100)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.mix = nn.Conv1d(WIDTH, WIDTH, 9, padding=4)
        self.predict = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids, labels):
        hidden = self.mix(self.embed(ids).transpose(1, 2)).transpose(1, 2)
        wanted = labels >= 0
        return F.cross_entropy(self.predict(hidden[wanted]), labels[wanted])


model = Denoiser().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(STEPS):
    corrupted, labels = corrupt(torch.randint(2, VOCABULARY, (BATCH, LENGTH)))
    loss = model(corrupted.cuda(), labels.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
