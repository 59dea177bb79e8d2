# /// expect
# run = "check"
# vram = "4GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "the f-string after 20,000 steps formats the meter, which compares 36,000 with 36,000 embeddings: 36,000^2 x 4 B = 4.83 GiB in one request; a step runs 150 residual blocks"
# ///
"""Contrastive plankton embeddings by a very deep narrow net; the meter formats itself with the alignment."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.inner, self.outer = nn.LayerNorm(width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return x + self.outer(torch.nn.functional.gelu(self.inner(self.norm(x))))


class Alignment:
    def __init__(self, network):
        self.network = network

    def __format__(self, spec):
        with torch.no_grad():
            z = self.network(torch.randn(36_000, 48, device="cuda"))
            return format((z @ z.t()).logsumexp(1).mean().item(), spec)


network = nn.Sequential(*[Block(48) for _ in range(150)]).cuda()
meter = Alignment(network)
optimizer = torch.optim.RAdam(network.parameters(), lr=1e-4)
for epoch in range(3):
    for _ in range(20_000):
        view = torch.randn(32, 48, device="cuda")
        a, b = network(view), network(view + 0.01)
        loss = nn.functional.cross_entropy(a @ b.t(), torch.arange(32, device="cuda"))
        optimizer.zero_grad(), loss.backward(), optimizer.step()
    print(f"epoch {epoch}: alignment {meter:.3f}")
