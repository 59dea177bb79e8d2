# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 26
# requested_bytes = 1342177280
# says_any = ["no_grad", "predictions"]
# culprit = 26
# steps = 4
# ///
"""Trains on small batches, then evaluates on large ones with gradients on: each kept prediction keeps its hidden layer."""

import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(512, 5120)
        self.down = nn.Linear(5120, 10)

    def forward(self, x):
        hidden = self.up(x)
        hidden.relu_()
        return self.down(hidden)


def train(model, optimizer):
    for _ in range(4):
        loss = F.cross_entropy(model(torch.randn(512, 512, device="cuda")), torch.zeros(512, dtype=torch.long, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def evaluate(model):
    model.eval()
    predictions = []
    for _ in range(8):
        predictions.append(model(torch.randn(65536, 512, device="cuda")))
    return torch.cat(predictions).argmax(dim=1)


model = Classifier().cuda()
train(model, torch.optim.SGD(model.parameters(), lr=0.01))
print("trained, evaluating")
print(evaluate(model).shape)
