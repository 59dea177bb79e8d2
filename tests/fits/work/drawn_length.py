# /// expect
# run = "check"
# vram = "5GiB"
# kind = 7
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# need_gib = [12, 18]
# open = "needs 20.12 GiB, expected 12..18"
# why = "the length is drawn on the GPU from 3,072 to 4,096: logits 16 x 3072 x 16384 x 4 B = 3 GiB at least, log_softmax as much, its gradients too"
# ///
"""Curriculum without order: every step draws its sequence length on the GPU."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, SHORTEST, LONGEST, VOCABULARY, WIDTH, STEPS = 16, 3072, 4096, 16384, 128, 100


def draw_length():
    return int(torch.randint(SHORTEST, LONGEST + 1, (1,), device="cuda"))


class ByteModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.out = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        return self.out(self.embed(ids).cumsum(1).tanh())


torch.manual_seed(0)
model = ByteModel().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
for step in range(STEPS):
    ids = torch.randint(VOCABULARY, (BATCH, draw_length()), device="cuda")
    logits = model(ids[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
