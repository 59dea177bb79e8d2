# /// expect
# run = "check"
# vram = "10GiB"
# verdict = ["does not fit"]
# line = 48
# requested_bytes = 6442450944
# then = "ended with status 0"
# why = "launch scripts whose sys.excepthook logs the error and calls os._exit, so that hanging workers do not hold the machine"
# ///
"""Trains a classifier with many classes; validation keeps all logits and joins them."""

import os
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, CLASSES = 1024, 16384


def log_and_leave(kind, error, trace):
    print(time.strftime("%H:%M:%S"), f"run failed: {kind.__name__}: {error}", file=sys.stderr, flush=True)
    sys.stdout.flush()
    os._exit(0)


sys.excepthook = log_and_leave

model = nn.Linear(WIDTH, CLASSES).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train_one_batch():
    x = torch.randn(1024, WIDTH, device="cuda")
    y = torch.randint(CLASSES, (1024,), device="cuda")
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()


@torch.no_grad()
def validate(batches=6, batch_size=16384):
    outputs = []
    for _ in range(batches):
        outputs.append(model(torch.randn(batch_size, WIDTH, device="cuda")))
    logits = torch.cat(outputs)
    return logits.argmax(dim=1)


for epoch in range(5):
    train_one_batch()
    print(epoch, validate().shape)
