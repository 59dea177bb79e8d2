# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["evaluation", "end"]
# step = 1201
# line = 23
# form = "evaluation before training, epoch == epochs - 1"
# need_gib = [7.4, 8.1]
# why = "the check before training and the evaluations of the first epochs have 4 batches with outputs of 8,192 x 8,192 x 4 B = 256 MiB, 1 GiB; after the last epoch the whole set of 28 is evaluated: 7 GiB with 4.55 free"
# ///
"""Evaluates before the first step, as a check, and after each epoch on a part; after the last epoch on everything."""

import torch
from torch import nn


def evaluate(model, batches):
    outputs = []
    with torch.no_grad():
        for n in range(batches):
            outputs.append(model(torch.full((8192, 16), n / batches, device="cuda")))
    return sum(output.mean() for output in outputs).item() / batches


model = nn.Linear(16, 8192).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
print("before training", evaluate(model, 4))
epochs = 4
for epoch in range(epochs):
    for batch in range(300):
        loss = (model(torch.randn(8, 16, device="cuda")) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, evaluate(model, 28 if epoch == epochs - 1 else 4))
