# /// expect
# run = "check"
# vram = "6GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run", "beam_search_validation.py:52"]
# need_gib = [8, 24]
# why = "validation after six steps searches with 64 x 256 beams: log-probabilities 16,384 x 64,000 x 4 B = 3.9 GiB, beside their logits and the sums over beams"
# ///
"""Trains a translation decoder; after every six steps validates by beam search over the whole vocabulary."""

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH, BATCH, LENGTH, BEAMS, SENTENCES, EVERY, STEPS = 64_000, 256, 32, 64, 256, 64, 6, 600


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.cell = nn.Linear(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        return self.out(self.cell(self.embed(ids)).tanh())


@torch.no_grad()
def search(model, tokens=8):
    score = torch.zeros(SENTENCES, BEAMS, device="cuda")
    last = torch.ones(SENTENCES, BEAMS, dtype=torch.long, device="cuda")
    for _ in range(tokens):
        step = model(last.flatten()).log_softmax(-1)
        total = score.view(-1, 1) + step
        score, best = total.view(SENTENCES, -1).topk(BEAMS)
        last = best % VOCABULARY
    return last


model = Decoder().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(1, STEPS + 1):
    ids = torch.randint(VOCABULARY, (BATCH, LENGTH), device="cuda")
    loss = F.cross_entropy(model(ids).flatten(0, 1), ids.roll(-1, 1).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % EVERY == 0:
        print("validated", tuple(search(model).shape))
