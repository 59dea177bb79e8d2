# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["end"]
# step = 401
# line = 33
# form = "gradient accumulation over enumerate(zip)"
# need_gib = [6.5, 7.0]
# why = "the final test runs 200,000 rows at once: 200,000 x 4,096 x 4 B = 3.05 GiB for the linear layer and as much for its ReLU, with 4.55 free"
# ///
"""Accumulates four micro-batches for an update; after the last one the whole test set goes through the network in one call."""

import torch
from torch import nn

torch.manual_seed(1)
inputs, targets = torch.randn(6400, 32), torch.randint(10, (6400,))
test_inputs, test_targets = torch.randn(200_000, 32), torch.randint(10, (200_000,))
model = nn.Sequential(nn.Linear(32, 4096), nn.ReLU(), nn.Linear(4096, 10)).cuda()
optimizer = torch.optim.NAdam(model.parameters(), lr=1e-3)
accum = 4
for i, (x, y) in enumerate(zip(inputs.split(4), targets.split(4))):
    loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda()) / accum
    loss.backward()
    if (i + 1) % accum == 0:
        optimizer.step()
        optimizer.zero_grad()

model.eval()
with torch.inference_mode():
    guesses = model(test_inputs.cuda()).argmax(1).cpu()
print("test accuracy", (guesses == test_targets).float().mean().item())
