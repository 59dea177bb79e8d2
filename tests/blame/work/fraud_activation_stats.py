# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "intermediates-kept"
# no_finding = ["saved-intermediates", "growing-collection", "retained-graph"]
# why = "the hooks keep a mean and a deviation per layer, a few bytes; a step needs about 370 MiB; the outputs themselves, 6 x 8192 x 1024 x 4 B = 192 MiB a step, would be 2304 MiB after 12 steps"
# ///
"""Fraud classifier whose activation statistics are gathered as two numbers per layer and step."""

from collections import defaultdict

import torch
from torch import nn

BATCH, WIDTH, STEPS = 8192, 1024, 12


class ActivationWatch:
    def __init__(self, model):
        self.outputs = defaultdict(list)
        for name, module in model.named_modules():
            if isinstance(module, nn.Linear) and module.out_features == WIDTH:
                module.register_forward_hook(self.hook(name))

    def hook(self, name):
        def store(module, inputs, output):
            output = output.detach()
            self.outputs[name].append((output.mean(), output.std()))
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
