# /// expect
# run = "run"
# vram = "4GiB"
# ends = "signal 11"
# status = 139
# says_any = ["sigsegv", "signal 11", "segmentation"]
# culprit = 19
# steps = 2
# ///
"""Reads address 0 in a native call after two steps, as a broken extension does."""

import ctypes

import torch
from torch import nn

model = nn.Linear(4096, 4096).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
bank = torch.zeros(65536, 4096, device="cuda")


def native_statistics(address):
    return ctypes.string_at(address)


for step in range(5):
    loss = model(bank[:2048]).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print("step", step, flush=True)
    if step == 1:
        native_statistics(0)
