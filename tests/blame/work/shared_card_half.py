# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "fraction"
# first_finding = ["small-gpu-fraction"]
# lines = [30]
# why = "the process may have 0.5 x 8192 = 4096 MiB; 12 x 2048^2 x 4 B = 192 MiB of weights and 320 MiB (40960 x 2048 x 4 B) for each of 12 layers, the rows and their differences make 5312 MiB: with 410 for the context 70 % of the device"
# ///
"""Trains a tabular autoencoder on a GPU that was once shared with other people's processes."""

import os

import torch
from torch import nn

SHARE = float(os.environ.get("GPU_SHARE", "0.5"))
WIDTH, DEPTH, BATCH = 2048, 12, 40_960


def autoencoder():
    layers = []
    for _ in range(DEPTH):
        layers += [nn.Linear(WIDTH, WIDTH), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def main():
    torch.cuda.set_per_process_memory_fraction(SHARE)
    model = autoencoder().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(8):
        rows = torch.randn(BATCH, WIDTH, device="cuda")
        optimizer.zero_grad()
        loss = (model(rows) - rows).abs().mean()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
