"""A part of the case `capped_buffer`: its verdicts are in `case.json`."""
import argparse

import torch
import torch.nn as nn

MAX_SLOTS = 32
DIM = 4096


class MemoryEncoder(nn.Module):
    """Encoder with a bank of past features; the bank has one slot per sample, at most MAX_SLOTS."""

    def __init__(self, batch, history):
        super().__init__()
        slots = min(batch, MAX_SLOTS)
        self.encode = nn.Linear(DIM, DIM, device="cuda")
        self.register_buffer("bank", torch.zeros(slots, history, DIM, device="cuda"))
        self.cursor = 0

    def forward(self, x):
        z = self.encode(x)
        slots = self.bank.shape[0]
        self.bank[:, self.cursor] = z[:slots].detach()
        self.cursor = (self.cursor + 1) % self.bank.shape[1]
        mean = self.bank.mean(dim=1)
        which = torch.arange(len(z), device=z.device) % slots
        return (z - mean[which]).pow(2).mean()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--history", type=int, default=16384)
    opts = parser.parse_args()

    model = MemoryEncoder(opts.batch, opts.history)
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(5):
        loss = model(torch.randn(opts.batch, DIM, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
