# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["later-steps"]
# line = 23
# form = "for range, (i + 1) % n == 0 and i > k"
# need_gib = [6.4, 7.2]
# why = "weights, momentum and gradient are 3 x 131,072 x 2,048 x 4 B = 3 GiB; a new optimizer takes over after 400, 800 and 1,200 steps, and the old ones stay in a list: 4 GiB with the second momentum, 5 with the third, of 4.55, and 6 with the fourth"
# ///
"""Warm restarts by a new optimizer after evaluations; the old ones are kept to draw their rates later."""

import torch
from torch import nn

model = nn.Embedding(131_072, 2048, device="cuda")
optimizers = [torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)]
for i in range(1300):
    optimizer = optimizers[-1]
    loss = model(torch.randint(131_072, (24,), device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if (i + 1) % 200 == 0 and i > 300:
        with torch.no_grad():
            score = model(torch.arange(512, device="cuda")).square().mean().item()
        print(i + 1, score)
        if (i + 1) % 400 == 0:
            optimizers.append(torch.optim.SGD(model.parameters(), lr=0.1 / len(optimizers), momentum=0.9))
