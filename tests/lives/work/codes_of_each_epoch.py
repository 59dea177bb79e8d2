# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["next-epoch", "later-steps"]
# step = 1601
# line = 32
# open = "stage evaluation, expected next-epoch or later-steps"
# form = "for ... else over epochs"
# need_gib = [9.4, 10.0]
# why = "each epoch of 400 steps leaves codes of 393,216 x 1,024 x 4 B = 1.5 GiB: the fourth is 6 GiB with 5.55 free; after six 9 GiB"
# ///
"""An autoencoder that remembers the codes of the whole data set after every epoch, to draw how they move."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(16, 1024), nn.Tanh(), nn.Linear(1024, 16)).cuda()
optimizer = torch.optim.RAdam(model.parameters())
paths = []
for epoch in range(6):
    for batch in range(400):
        x = torch.randn(64, 16, device="cuda")
        loss = (model(x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    else:
        with torch.no_grad():
            points = torch.randn(393_216, 16, device="cuda")
            paths.append(model[0](points))
print([path.shape for path in paths])
