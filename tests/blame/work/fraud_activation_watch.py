# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "intermediates-kept"
# first_finding = ["saved-intermediates", "growing-collection", "retained-graph"]
# lines = [49, 30]
# why = "the hooks keep the output of 6 linear layers of 8192 x 1024 x 4 B = 32 MiB, 192 MiB a step, for 50 steps: 9600 of 5734 MiB, full near step 26; a step alone needs about 600 MiB"
# ///
"""Fraud classifier whose activation statistics are to be plotted after the training."""

from collections import defaultdict

import torch
from torch import nn

BATCH, WIDTH, STEPS = 8192, 1024, 50


class ActivationWatch:
    def __init__(self, model):
        self.outputs = defaultdict(list)
        for name, module in model.named_modules():
            if isinstance(module, nn.Linear) and module.out_features == WIDTH:
                module.register_forward_hook(self.hook(name))

    def hook(self, name):
        def store(module, inputs, output):
            self.outputs[name].append(output.detach())
        return store

    def summary(self):
        return {name: len(values) for name, values in self.outputs.items()}


layers = []
for _ in range(6):
    layers += [nn.Linear(WIDTH, WIDTH), nn.ReLU()]
model = nn.Sequential(*layers, nn.Linear(WIDTH, 1)).cuda()
watch = ActivationWatch(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()

for step in range(STEPS):
    transactions = torch.randn(BATCH, WIDTH, device="cuda")
    fraud = torch.randint(0, 2, (BATCH, 1), device="cuda").float()
    optimizer.zero_grad()
    loss = criterion(model(transactions), fraud)
    loss.backward()
    optimizer.step()

print(watch.summary(), loss.item())
