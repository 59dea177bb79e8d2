# /// expect
# run = "check"
# vram = "8GiB"
# verdict = ["does not fit"]
# line = 26
# requested_bytes = 10737418240
# then = "dropped in a future"
# why = "evaluation or checkpointing submitted to a ThreadPoolExecutor whose futures nobody asks for a result"
# ///
"""A gene-expression autoencoder; a worker thread validates on all cells at once, and its error is never read."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

GENES, LATENT = 16384, 512

model = nn.Sequential(nn.Linear(GENES, LATENT), nn.ReLU(), nn.Linear(LATENT, GENES)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
scores = []


@torch.no_grad()
def validate(cells):
    data = torch.randn(cells, GENES, device="cuda")
    scores.append((model(data) - data).square().mean().item())


def train_epoch():
    x = torch.randn(512, GENES, device="cuda")
    optimizer.zero_grad()
    loss = (model(x) - x).square().mean()
    loss.backward()
    optimizer.step()


for epoch in range(5):
    train_epoch()
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(validate, 163840)

print("validated", len(scores), "times")
