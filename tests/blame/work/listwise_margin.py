# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "pairwise"
# first_finding = ["pairwise-by-broadcasting"]
# lines = [24, 25, 26]
# why = "24000 x 24000 pairs are 2197 MiB in float32; the gaps, the wanted order, their product and the margin less the product are four such matrices at once: 8788 + 410 of 8192 MiB"
# ///
"""Learns to rank search results by a margin over all pairs of one long result list."""

import torch
from torch import nn
from torch.nn import functional as F


class PairwiseMargin(nn.Module):
    def __init__(self, margin=0.2):
        super().__init__()
        self.margin = margin

    def forward(self, scores, relevance):
        gap = scores[:, None] - scores[None, :]
        wanted = torch.sign(relevance[:, None] - relevance[None, :])
        hinge = F.relu(self.margin - wanted * gap)
        return hinge.mean()


class Ranker(nn.Module):
    def __init__(self, features=136):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, 128), nn.GELU(), nn.Linear(128, 1))

    def forward(self, documents):
        return self.net(documents).squeeze(-1)


def main(lists=5, documents=24_000):
    ranker = Ranker().cuda()
    criterion = PairwiseMargin()
    optimizer = torch.optim.Adagrad(ranker.parameters(), lr=0.01)
    for index in range(lists):
        features = torch.randn(documents, 136, device="cuda")
        relevance = torch.randint(0, 5, (documents,), device="cuda").float()
        optimizer.zero_grad()
        loss = criterion(ranker(features), relevance)
        loss.backward()
        optimizer.step()
        print(f"list {index}: {loss.item():.4f}")


main()
