# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "graph-kept"
# no_finding = ["retained-graph"]
# why = "backward() frees the graph of a batch, 130 MiB, and the sum is detached: with weights, gradients and momentum of 3 x 12 MiB under 250 MiB at a time"
# ///
"""Signature verification with a Siamese network; every batch is differentiated, and the gradients are summed."""

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


def run_epoch(model, optimizer, batches=12):
    total = torch.zeros((), device="cuda")
    optimizer.zero_grad()
    for left, right, same in signature_pairs(batches):
        loss = contrastive(model(left), model(right), same) / batches
        loss.backward()
        total = total + loss.detach()
    optimizer.step()
    return total.item()


if __name__ == "__main__":
    embedder = Embedder().cuda()
    sgd = torch.optim.SGD(embedder.parameters(), lr=0.1, momentum=0.9)
    print(run_epoch(embedder, sgd))
