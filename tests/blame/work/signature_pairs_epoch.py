# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "graph-kept"
# first_finding = ["retained-graph"]
# lines = [29, 47, 48, 49]
# why = "a batch of 4096 pairs saves 2 x (1 input + 3 ReLU outputs) of 16 MiB and a few narrow tensors: 130 MiB that live until the backward at the end of the epoch; 3686 MiB are full in about the 28th of 64 batches, which would need 8.3 GiB"
# ///
"""Signature verification with a Siamese network; an epoch's loss is summed and then differentiated once."""

import torch
from torch import nn
from torch.nn import functional as F


class Embedder(nn.Module):
    def __init__(self, pixels=1024, width=1024):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(pixels, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 64),
        )  # fmt: skip

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


def contrastive(a, b, same, margin=0.6):
    distance = (a - b).norm(dim=-1)
    return torch.where(same, distance, F.relu(margin - distance)).square().mean()


def signature_pairs(batches, size=4096):
    for _ in range(batches):
        same = torch.randint(0, 2, (size,), device="cuda").bool()
        yield torch.randn(size, 1024, device="cuda"), torch.randn(size, 1024, device="cuda"), same


def run_epoch(model, optimizer, batches=64):
    total = torch.zeros((), device="cuda")
    optimizer.zero_grad()
    for left, right, same in signature_pairs(batches):
        loss = contrastive(model(left), model(right), same)
        total = total + loss / batches
    total.backward()
    optimizer.step()
    return total.item()


if __name__ == "__main__":
    embedder = Embedder().cuda()
    sgd = torch.optim.SGD(embedder.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(3):
        print(epoch, run_epoch(embedder, sgd))
