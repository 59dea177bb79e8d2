# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "the window after 250 short ones has 131,072 bytes: 16 x 131,072 x 128 x 4 B = 1 GiB for the embedding, as much for the convolution and for its ReLU: 3 GiB with 1.52 free"
# ///
"""Character CNN over byte windows; the curriculum is a chain of iterators."""

from itertools import chain, repeat

import torch
from torch import nn


class ByteCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(256, 128)
        self.conv = nn.Conv1d(128, 128, 5, padding=2)
        self.head = nn.Linear(128, 4)

    def forward(self, text):
        x = self.embed(text).transpose(1, 2)
        return self.head(torch.relu(self.conv(x)).amax(dim=2))


windows = chain(repeat(256, 150), repeat(512, 100), repeat(131_072, 10))
model = ByteCNN().cuda()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
while (width := next(windows, None)) is not None:
    text = torch.randint(256, (16, width), device="cuda")
    label = torch.randint(4, (16,), device="cuda")
    loss = nn.functional.cross_entropy(model(text), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
