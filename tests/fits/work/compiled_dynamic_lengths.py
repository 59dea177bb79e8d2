# /// expect
# run = "check"
# vram = "6GiB"
# kind = 2
# truth = "does not fit"
# verdict = ["does not fit"]
# need_gib = [8, 26]
# why = "the third batch has length 4096: logits 16 x 4096 x 16384 x 4 B = 4 GiB in float32, and log_softmax's gradient 4 GiB more"
# ///
"""A compiled language model with dynamic lengths: the third batch is eight times longer than the first."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, VOCABULARY, WIDTH = 16, 16384, 256
LENGTHS = [512, 1024, 4096, 768, 512, 640]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.body = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.LayerNorm(WIDTH))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, ids):
        return self.head(self.body(self.embed(ids)))


model = Model().cuda()
compiled = torch.compile(model, dynamic=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for length in LENGTHS:
    ids = torch.randint(VOCABULARY, (BATCH, length), device="cuda")
    logits = compiled(ids)
    loss = F.cross_entropy(logits.view(-1, VOCABULARY), ids.roll(-1, 1).view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
