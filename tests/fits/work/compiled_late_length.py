# /// expect
# run = "check"
# vram = "6GiB"
# kind = 2
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [8, 26]
# why = "the fifth batch of an epoch has 2,048 tokens instead of 256: logits 32 x 2048 x 16,384 x 4 B = 4 GiB, log_softmax or its gradient as much"
# ///
"""A compiled tagger; the fifth batch of every epoch is eight times longer, and compiled anew."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, VOCABULARY, WIDTH, EPOCHS = 32, 16_384, 128, 10
EPOCH = [256, 256, 256, 256, 2048, 256]


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.body = nn.Linear(WIDTH, WIDTH)
        self.tags = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        return self.tags(torch.relu(self.body(self.embed(ids))))


model = Tagger().cuda()
forward = torch.compile(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(EPOCHS):
    for length in EPOCH:
        ids = torch.randint(VOCABULARY, (BATCH, length), device="cuda")
        loss = F.cross_entropy(forward(ids).flatten(0, 1), ids.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
