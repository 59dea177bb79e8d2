# /// expect
# run = "check"
# vram = "6GiB"
# kind = 1
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.9, 4.0]
# why = "the corpus has 4,000 distinct of 2,000,000 words: logits 16,384 x 4000 x 4 B = 0.24 GiB, four of them; counting half of the words would ask for 61 GiB"
# ///
"""Skip-gram on a small corpus: the vocabulary is what torch.unique finds in it."""

import torch
import torch.nn.functional as F
from torch import nn

WORDS, DISTINCT, WIDTH, BATCH, STEPS = 2_000_000, 4000, 300, 16384, 3

torch.manual_seed(1)
spelling = torch.randint(DISTINCT, (WORDS,)) * 1009
spelling[:DISTINCT] = torch.arange(DISTINCT) * 1009
corpus = spelling.to("cuda")
vocabulary, ids = torch.unique(corpus, return_inverse=True)


class SkipGram(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.centre = nn.Embedding(words, WIDTH)
        self.context = nn.Linear(WIDTH, words, bias=False)

    def forward(self, ids):
        return self.context(self.centre(ids))


model = SkipGram(len(vocabulary)).to("cuda")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(STEPS):
    at = torch.randint(1, WORDS, (BATCH,), device="cuda")
    loss = F.cross_entropy(model(ids[at]), ids[at - 1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("vocabulary", len(vocabulary))
