# /// expect
# run = "check"
# vram = "4GiB"
# kind = 2
# truth = "does not fit"
# verdict = ["does not fit"]
# need_gib = [6.2, 11]
# why = "the embedding has 400,000 x 1024 x 4 B = 1.53 GiB, its dense gradient as much, Adam's two moments 3.05 GiB: 6.1 GiB before anything else"
# ///
"""A compiled bag-of-words model that looks up each distinct token once; unique breaks the graph."""

import torch
from torch import nn

VOCABULARY, WIDTH, BATCH, LENGTH, STEPS = 400_000, 1024, 256, 512, 100


class BagOfWords(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(VOCABULARY, WIDTH)
        self.head = nn.Linear(WIDTH, 8)

    def forward(self, ids):
        distinct, inverse = ids.unique(return_inverse=True)
        vectors = self.table(distinct).tanh()
        bags = torch.zeros(len(ids), WIDTH, device=ids.device)
        row = torch.arange(len(ids), device=ids.device).repeat_interleave(ids.shape[1])
        return self.head(bags.index_add(0, row, vectors[inverse.flatten()]))


with torch.device("cuda"):
    model = BagOfWords()
model.compile(dynamic=True)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(STEPS):
    ids = torch.randint(VOCABULARY, (BATCH, LENGTH)).cuda()
    loss = nn.functional.cross_entropy(model(ids), torch.randint(8, (BATCH,)).cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
