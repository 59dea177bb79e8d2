# /// expect
# run = "run"
# vram = "4GiB"
# command = "bash {program}.sh"
# ends = "signal 6"
# status = 134
# says_any = ["sigabrt", "signal 6", "abort"]
# culprit = 27
# steps = 2
# ///
"""A shell script runs two stages: the first ends well, the second aborts in its third step like a failed assertion in C++."""

import os
import sys

import torch
from torch import nn


def prepare() -> None:
    """Computes the mean of the rows."""
    print("mean", torch.zeros(65536, 1024, device="cuda").mean(dim=0).shape, flush=True)


def train() -> None:
    """Trains a probe on a table."""
    table = torch.zeros(262144, 2048, device="cuda")
    probe = nn.Linear(2048, 2, device="cuda")
    optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
    for step in range(5):
        optimizer.zero_grad()
        probe(table[step * 512 : (step + 1) * 512]).mean().backward()
        if step == 2:
            os.abort()
        optimizer.step()
        print("step", step, flush=True)


if __name__ == "__main__":
    {"prepare": prepare, "train": train}[sys.argv[1]]()
