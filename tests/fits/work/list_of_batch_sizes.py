# /// expect
# run = "check"
# vram = "8GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits"]
# need_gib = [3.6, 7.7]
# why = "a sample takes 4096 x 4096 x 4 B = 64 MiB for each of input, two outputs and a gradient: 256 and 128 do not fit (16 and 8 GiB of input), 64 neither, 16 needs 4 GiB"
# ///
"""Tries batch sizes from a list and trains with the first that gets through one step."""

import torch
from torch import nn

TOKENS, WIDTH, STEPS = 4096, 4096, 500
CANDIDATES = (256, 128, 64, 16)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, WIDTH)
        self.down = nn.Linear(WIDTH, 1)

    def forward(self, x):
        return self.down(self.up(x).tanh())


def step(model, optimizer, batch_size):
    x = torch.randn(batch_size, TOKENS, WIDTH, device="cuda")
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()


def pick(model, optimizer):
    for batch_size in CANDIDATES:
        try:
            step(model, optimizer, batch_size)
            return batch_size
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
            print("batch size", batch_size, "is too large")
    raise SystemExit("no batch size fits")


model = Model().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batch_size = pick(model, optimizer)
for _ in range(STEPS):
    step(model, optimizer, batch_size)
