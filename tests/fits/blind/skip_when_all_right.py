# /// expect
# run = "check"
# vram = "4GiB"
# kind = 3
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [36, 37]
# need_gib = [5, 10]
# why = "20 layers of 4096 x 4096 x 4 B = 1.25 GiB, gradients 1.25 GiB, moments 2.5 GiB: an untrained network is never right on all of 512 random labels"
# ///
"""Trains only on batches with a mistake in them, as perceptron-like recipes do."""

import torch
from torch import nn

WIDTH, DEPTH, CLASSES, BATCH, STEPS = 4096, 20, 1000, 512, 400


def network():
    layers = [nn.Linear(WIDTH, WIDTH, bias=False, device="cuda") for _ in range(DEPTH)]
    return nn.Sequential(*layers, nn.Linear(WIDTH, CLASSES, device="cuda"))


model = network()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
passed = 0
for step in range(STEPS):
    x = torch.randn(BATCH, WIDTH, device="cuda")
    y = torch.randint(CLASSES, (BATCH,), device="cuda")
    logits = model(x)
    wrong = logits.argmax(1) != y
    if not wrong.any():
        passed += 1
        continue
    optimizer.zero_grad()
    nn.functional.cross_entropy(logits[wrong], y[wrong]).backward()
    optimizer.step()
print("passed over", passed, "batches")
