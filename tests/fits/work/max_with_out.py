# /// expect
# run = "check"
# vram = "6GiB"
# kind = 8
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [38]
# need_gib = [8, 26]
# why = "the longest of the lengths is written by max(out=): 4096, so the padded batch has 64 x 4096 x 4096 x 4 B = 4 GiB, and its linear layer 4 GiB"
# ///
"""Pads a batch to its longest sequence; the maximum goes to buffers that are made once and reused."""

import torch
from torch import nn

BATCH, LONGEST, WIDTH, STEPS = 64, 4096, 4096, 50


class Padder:
    def __init__(self):
        self.longest = torch.zeros((), dtype=torch.long, device="cuda")
        self.where = torch.zeros((), dtype=torch.long, device="cuda")

    def __call__(self, lengths):
        torch.max(lengths, dim=0, out=(self.longest, self.where))
        padded = torch.zeros(len(lengths), self.longest.item(), WIDTH, device="cuda")
        mask = torch.arange(padded.shape[1], device="cuda")[None] < lengths[:, None]
        return padded, mask


pad = Padder()
model = nn.Linear(WIDTH, WIDTH).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(STEPS):
    lengths = torch.randint(1, 64, (BATCH,))
    lengths[step % BATCH] = LONGEST
    padded, mask = pad(lengths.cuda())
    hidden = model(padded)
    loss = (hidden.mean(-1) * mask).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
