# /// expect
# run = "run"
# vram = "4GiB"
# ends = "exit 7"
# status = 7
# says_any = ["status 7", "code 7", "_exit"]
# culprit = 21
# steps = 3
# ///
"""Ends with os._exit(7) in the middle of training: no exit handler of Python runs, and 2 GiB are in use."""

import os

import torch
from torch import nn


def run():
    model = nn.Linear(256, 256).cuda()
    optimizer = torch.optim.Adagrad(model.parameters())
    corpus = torch.zeros(2097152, 256, device="cuda")
    for start in range(0, 65536, 8192):
        if start == 24576:
            os._exit(7)
        loss = model(corpus[start : start + 8192]).norm()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


run()
