"""A small training, and files of the program's own whose bytes nobody else may write."""

import os
import tempfile

import torch
from torch import nn

model = nn.Linear(256, 256, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train(steps: int) -> None:
    """Makes so many optimizer steps."""
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(8, 256, device="cuda")).sum().backward()
        optimizer.step()


def open_own(count: int) -> list[int]:
    """Opens files that have no name, and writes a word to each."""
    files = [os.open(tempfile.gettempdir(), os.O_RDWR | os.O_TMPFILE) for _ in range(count)]
    for file in files:
        os.write(file, b"mine")
    return files


def check_own(files: list[int]) -> None:
    """Ends with status 9 if a file holds another byte."""
    found = {os.pread(file, 1 << 16, 0) for file in files}
    if found != {b"mine"}:
        print("own files hold", found)
        os._exit(9)
