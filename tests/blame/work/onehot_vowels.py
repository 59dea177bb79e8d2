# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "one-hot"
# first_finding = ["one-hot-of-vocabulary"]
# lines = [28]
# why = "16 x 1024 syllables spread over 32000 classes in int64 are 16384 x 32000 x 8 B = 4000 MiB, and in float32 another 2000 MiB: 6000 + 410 of 5120 MiB; the scores behind them are 64 wide"
# ///
"""Predicts the stress of a syllable from its neighbours; syllables enter the network as one-hot vectors."""

import torch
from torch import nn
from torch.nn import functional as F

SYLLABLES = 32_000


class StressModel(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.inward = nn.Linear(SYLLABLES, width, bias=False)
        self.context = nn.Conv1d(width, width, 5, padding=2)
        self.stress = nn.Linear(width, 3)

    def forward(self, text):
        spread = F.one_hot(text, SYLLABLES).float()
        x = self.inward(spread)
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
