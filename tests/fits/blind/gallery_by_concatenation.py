# /// expect
# run = "check"
# vram = "6GiB"
# kind = 4
# truth = "does not fit"
# verdict = ["does not fit"]
# says = ["full at"]
# full_at = [9, 13]
# open = "the first sentence lacks `full at`"
# why = "the gallery grows by 131,072 x 512 x 4 B = 0.25 GiB a step, and torch.cat holds the old and the new one at once: 5.5 GiB are full at about 2.6 GiB, step 11 of 200"
# ///
"""Retrieval training that appends the embeddings of each step to one gallery by torch.cat."""

import torch
import torch.nn.functional as F
from torch import nn

ROWS, WIDTH, QUERIES, STEPS = 131_072, 512, 32, 200


class Retriever(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("gallery", torch.zeros(0, WIDTH), persistent=False)

    @torch.no_grad()
    def enlarge(self, x):
        self.gallery = torch.cat([self.gallery, self.project(x)])

    def forward(self, x):
        return F.normalize(self.project(x), dim=1) @ self.gallery[:4096].t()


model = Retriever().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
for step in range(STEPS):
    model.enlarge(torch.randn(ROWS, WIDTH, device="cuda"))
    loss = model(torch.randn(QUERIES, WIDTH, device="cuda")).logsumexp(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
