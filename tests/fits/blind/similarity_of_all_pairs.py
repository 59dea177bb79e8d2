# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run", "similarity_of_all_pairs.py:45"]
# need_gib = [9.4, 30]
# why = "at the end of an epoch of 40 steps recall is computed from all pairs: 49,152 x 49,152 x 4 B = 9 GiB; a step has 512 pairs"
# ///
"""Metric learning; after each epoch of forty steps recall at one is computed over all pairs of the validation set."""

import torch
import torch.nn.functional as F
from torch import nn

FEATURES, WIDTH, BATCH, VALIDATION, STEPS, EPOCHS = 512, 128, 512, 49_152, 40, 20


class Metric:
    def __init__(self):
        self.embed = nn.Linear(FEATURES, WIDTH).cuda()
        self.optimizer = torch.optim.Adam(self.embed.parameters(), lr=1e-3)

    def epoch(self):
        for _ in range(STEPS):
            x = torch.randn(BATCH, FEATURES, device="cuda")
            a, b = (F.normalize(self.embed(x + 0.1 * torch.randn_like(x)), dim=1) for _ in range(2))
            loss = F.cross_entropy(a @ b.t() / 0.05, torch.arange(BATCH, device="cuda"))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def recall(self):
        vectors = F.normalize(self.embed(torch.randn(VALIDATION, FEATURES, device="cuda")), dim=1)
        similarity = vectors @ vectors.t()
        similarity.fill_diagonal_(-2)
        return (similarity.argmax(1) % 2 == torch.arange(VALIDATION, device="cuda") % 2).float().mean().item()


metric = Metric()
for epoch in range(EPOCHS):
    metric.epoch()
    print(epoch, "recall", metric.recall())
