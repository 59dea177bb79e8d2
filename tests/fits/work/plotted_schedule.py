# /// expect
# run = "check"
# vram = "6GiB"
# kind = 3
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [46]
# need_gib = [8, 26]
# why = "images 64 x 64 channels x 512 x 512 x 4 B = 4 GiB for the first convolution's output, 4 GiB for ReLU's"
# ///
"""Plots a one-cycle schedule by stepping the optimizer without gradients, then trains a classifier with it."""

import torch
from torch import nn

BATCH, SIDE, CHANNELS, CLASSES, STEPS = 64, 512, 64, 10, 400


def make():
    model = nn.Sequential(
        nn.Conv2d(3, CHANNELS, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(CHANNELS, CLASSES),
    ).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return model, optimizer, torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=STEPS + 1)


def curve():
    _, optimizer, schedule = make()
    rates = []
    for _ in range(STEPS):
        optimizer.step()
        schedule.step()
        rates.append(schedule.get_last_lr()[0])
    return rates


def train():
    model, optimizer, schedule = make()
    for _ in range(STEPS):
        images = torch.randn(BATCH, 3, SIDE, SIDE, device="cuda")
        labels = torch.randint(CLASSES, (BATCH,), device="cuda")
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()


rates = curve()
print("highest rate at step", rates.index(max(rates)))
train()
