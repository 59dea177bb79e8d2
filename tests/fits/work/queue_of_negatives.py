# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "the 12,000th forward makes a bank of 2^20 keys of width 1024: 4 GiB in one request; a step has 40 encoder layers"
# ///
"""MoCo-like text encoder: negatives come from the batch until the keys are good enough for a bank."""

import torch
from torch import nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, depth=40, width=96):
        super().__init__()
        self.embed = nn.Embedding(2000, width)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(width, 4, 2 * width, batch_first=True) for _ in range(depth))
        self.project = nn.Linear(width, 1024)
        self.seen, self.bank = 0, None

    def forward(self, tokens):
        self.seen += 1
        if self.seen == 12_000:
            self.bank = F.normalize(torch.randn(1 << 20, 1024, device=tokens.device), dim=1)
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return F.normalize(self.project(x.mean(1)), dim=1)


encoder = Encoder().cuda()
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.03, momentum=0.9)
for step in range(30_000):
    z = encoder(torch.randint(2000, (8, 24), device="cuda"))
    keys = z.detach() if encoder.bank is None else encoder.bank
    loss = F.cross_entropy(z @ keys.t() / 0.07, torch.arange(8, device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
