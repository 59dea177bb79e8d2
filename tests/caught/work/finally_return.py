# /// expect
# run = "check"
# vram = "6GiB"
# verdict = ["does not fit"]
# line = 24
# requested_bytes = 8589934592
# caught_line = 44
# then = "went on"
# why = "train functions of notebooks that save and return the history in a finally block, which drops every error"
# ///
"""Segmentation with growing image sizes and a Dice loss over one-hot labels."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, CLASSES = 16, 256

model = nn.Conv2d(3, CLASSES, kernel_size=1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def dice_loss(logits_of, images, labels):
    one_hot = F.one_hot(labels, CLASSES)
    one_hot = one_hot.permute(0, 3, 1, 2).float()
    probabilities = logits_of(images).softmax(dim=1)
    overlap = 2 * (probabilities * one_hot).sum()
    return 1 - overlap / (probabilities.sum() + one_hot.sum())


def train(sizes):
    history = []
    try:
        for size in sizes:
            images = torch.randn(BATCH, 3, size, size, device="cuda")
            labels = torch.randint(CLASSES, (BATCH, size, size), device="cuda")
            optimizer.zero_grad()
            loss = dice_loss(model, images, labels)
            loss.backward()
            optimizer.step()
            history.append((size, loss.item()))
    finally:
        print("stopped after", len(history), "sizes")
        return history


for size, loss in train((32, 64, 512, 512)):
    print(f"{size:4} {loss:.4f}")
