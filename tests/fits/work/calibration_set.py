# /// expect
# run = "check"
# vram = "6GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run", "calibration_set.py:52"]
# need_gib = [15, 50]
# why = "after 30 steps the logits of 100 validation batches of 2048 x 10,000 x 4 B = 78 MiB are kept and joined: 7.6 GiB"
# ///
"""Temperature scaling: after training, the logits of the whole validation set are collected and the temperature is fitted."""

import torch
import torch.nn.functional as F
from torch import nn

FEATURES, CLASSES, BATCH, VALIDATION_BATCHES, STEPS = 256, 10_000, 2048, 100, 30


def loader(count):
    for _ in range(count):
        yield torch.randn(BATCH, FEATURES, device="cuda"), torch.randint(CLASSES, (BATCH,), device="cuda")


def train(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    for x, y in loader(STEPS):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


def calibrate(model):
    with torch.no_grad():
        logits, labels = zip(*((model(x), y) for x, y in loader(VALIDATION_BATCHES)))
    logits, labels = torch.cat(logits), torch.cat(labels)
    temperature = nn.Parameter(torch.ones((), device="cuda"))
    optimizer = torch.optim.LBFGS([temperature], max_iter=20)

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(logits / temperature, labels)
        loss.backward()
        return loss

    optimizer.step(closure)
    return temperature.item()


model = nn.Linear(FEATURES, CLASSES).cuda()
train(model)
print("temperature", calibrate(model))
