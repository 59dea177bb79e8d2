# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# kind = 4
# why = "step i keeps 256 x i x 4 B = i KiB: 1.5 GiB after 1,780 steps of 8,000, 1.2 MiB after 50; a step has 30 encoder layers and two passes"
# ///
"""Agent with a growing external memory; the read weights of each step are kept for a heat map."""

import torch
from torch import nn

layer = nn.TransformerEncoderLayer(32, 2, 64, batch_first=True, dropout=0.0)
core = nn.TransformerEncoder(layer, 30).cuda()
read = nn.Linear(32, 256).cuda()
optimizer = torch.optim.SGD([*core.parameters(), *read.parameters()], lr=1e-3)
keys = torch.randn(8_001, 256, device="cuda")
kept = []
for step in range(1, 8_001):
    seen = torch.randn(2, 12, 32, device="cuda")
    state = core(core(seen) + seen).mean(dim=(0, 1))
    weights = read(state)[:, None] * keys[:step, :1].t()
    loss = weights.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    kept.append(weights.detach())
print(sum(map(torch.numel, kept)))
