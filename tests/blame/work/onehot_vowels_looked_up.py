# /// expect
# run = "check"
# vram = "5GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "one-hot"
# no_finding = ["one-hot-of-vocabulary"]
# why = "an embedding looks the row of each index up: 16 x 1024 x 64 x 4 B = 4 MiB in place of a one-hot matrix of 2000 MiB; the table is 8 MiB"
# ///
"""Predicts the stress of a syllable from its neighbours; syllables are looked up."""

import torch
from torch import nn
from torch.nn import functional as F

SYLLABLES = 32_000


class StressModel(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.inward = nn.Embedding(SYLLABLES, width)
        self.context = nn.Conv1d(width, width, 5, padding=2)
        self.stress = nn.Linear(width, 3)

    def forward(self, text):
        x = self.inward(text)
        x = F.relu(self.context(x.transpose(1, 2))).transpose(1, 2)
        return self.stress(x)


def corpus(batches):
    for _ in range(batches):
        yield torch.randint(0, SYLLABLES, (16, 1024)), torch.randint(0, 3, (16, 1024))


model = StressModel().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for text, stress in corpus(6):
    logits = model(text.cuda())
    loss = F.cross_entropy(logits.flatten(0, 1), stress.cuda().flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(loss.item())
