# /// expect
# run = "check"
# vram = "5GiB"
# kind = 3
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [39]
# need_gib = [12, 30]
# why = "optimizer.step() comes first only to silence a warning; the training makes logits 64 x 512 x 32,000 x 4 B = 3.9 GiB, and log_softmax as much"
# ///
"""Warms a scheduler up before training, with an optimizer step before each scheduler step to avoid PyTorch's warning."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, LENGTH, VOCABULARY, WIDTH, WARM, STEPS = 64, 512, 32_000, 128, 10, 100


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.body = nn.Linear(WIDTH, WIDTH)

    def forward(self, ids):
        return self.body(self.embed(ids)).relu() @ self.embed.weight.t()


model = Decoder().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=WARM)
for _ in range(WARM):
    optimizer.step()
    scheduler.step()
for step in range(STEPS):
    ids = torch.randint(VOCABULARY, (BATCH, LENGTH), device="cuda")
    logits = model(ids)
    loss = F.cross_entropy(logits.view(-1, VOCABULARY), ids.roll(-1, 1).view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
