# /// expect
# run = "check"
# vram = "8GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits"]
# need_gib = [1.0, 7.9]
# why = "blocks of 256 MiB are taken until none is left, then all are freed; the work takes 60 % of what was counted, about 4.5 GiB of 7.5"
# ///
"""Measures how much memory there is by filling the device, and sizes its queue of negatives by that."""

import torch
from torch import nn

BLOCK, WIDTH, SHARE, STEPS = 256 << 20, 256, 0.6, 200


def measure():
    blocks = []
    try:
        while len(blocks) < 4096:
            blocks.append(torch.empty(BLOCK, dtype=torch.uint8, device="cuda"))
    except torch.cuda.OutOfMemoryError:
        pass
    found = len(blocks) * BLOCK
    blocks.clear()
    torch.cuda.empty_cache()
    return found


class MoCo(nn.Module):
    def __init__(self, entries):
        super().__init__()
        self.encoder = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("queue", torch.empty(entries, WIDTH, device="cuda"))

    def forward(self, x):
        q = nn.functional.normalize(self.encoder(x), dim=1)
        return (q @ self.queue.t() / 0.07).logsumexp(1).mean()


entries = int(measure() * SHARE) // (WIDTH * 4)
model = MoCo(entries).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.03)
for step in range(STEPS):
    x = torch.randn(8, WIDTH, device="cuda")
    optimizer.zero_grad()
    model(x).backward()
    optimizer.step()
