# /// expect
# run = "check"
# vram = "8GiB"
# kind = 2
# truth = "fits"
# verdict = ["fits"]
# need_gib = [1.0, 5.2]
# why = "131,072 x 512 x 4 B = 0.25 GiB for the input; a quarter of the tokens is kept by topk, so hidden layers of 32,768 x 2048 x 4 B = 0.25 GiB"
# ///
"""Token pruning under torch.compile: topk keeps a known number of tokens; print breaks the graph."""

import torch
from torch import nn

TOKENS, KEPT, WIDTH, STEPS = 131_072, 32768, 512, 3


class Pruned(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(WIDTH, 1)
        self.block = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH))
        self.calls = 0

    def forward(self, x):
        score = self.score(x).squeeze(-1)
        kept = score.topk(KEPT)
        self.calls += 1
        if self.calls == 1:
            print("keeps", kept.indices.shape[0], "of", x.shape[0])
        return self.block(x[kept.indices]) * kept.values.sigmoid()[:, None]


model = Pruned().cuda()
compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(STEPS):
    x = torch.randn(TOKENS, WIDTH, device="cuda")
    loss = compiled(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
