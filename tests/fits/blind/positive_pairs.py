# /// expect
# run = "check"
# vram = "8GiB"
# kind = 6
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says = ["positive_pairs.py:29"]
# need_gib = [8.2, 60]
# why = "an untrained network gives similarities near 1 (all outputs share their bias): all 4096 x 4096 pairs are positive, 16.8 million x 128 x 4 B = 8 GiB a gather; half would be 4 GiB"
# ///
"""Graph building from similarity: every pair above a threshold becomes an edge, and the edges' features are gathered."""

import torch
import torch.nn.functional as F
from torch import nn

NODES, WIDTH, THRESHOLD, STEPS = 4096, 128, 0.5, 30


class EdgeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(WIDTH, WIDTH)
        nn.init.normal_(self.embed.weight, std=0.001)
        nn.init.ones_(self.embed.bias)

    def forward(self, x):
        h = F.normalize(self.embed(x), dim=1)
        source, target = (h @ h.t() > THRESHOLD).nonzero().unbind(1)
        message = h[source]
        return torch.zeros_like(h).index_add(0, target, message)


model = EdgeNet().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(STEPS):
    x = torch.randn(NODES, WIDTH, device="cuda")
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
