# /// expect
# run = "check"
# vram = "14GiB"
# kind = 6
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [4.0, 10.5]
# why = "every token goes to two of 8 experts: hidden layers of all together 2 x 65,536 x 2048 x 4 B = 1 GiB, kept twice, once more in backward"
# ///
"""A mixture of experts with two experts for each token, gathered expert by expert as Mixtral does."""

import torch
import torch.nn.functional as F
from torch import nn

TOKENS, WIDTH, HIDDEN, EXPERTS, CHOSEN, STEPS = 65536, 1024, 2048, 8, 2, 3


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.up = nn.Parameter(torch.randn(EXPERTS, WIDTH, HIDDEN) * 0.02)
        self.down = nn.Parameter(torch.randn(EXPERTS, HIDDEN, WIDTH) * 0.02)

    def forward(self, x):
        weights, chosen = torch.topk(self.gate(x).softmax(-1), CHOSEN, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        hit = F.one_hot(chosen, EXPERTS).permute(2, 1, 0)
        out = torch.zeros_like(x)
        for expert in range(EXPERTS):
            which, token = torch.where(hit[expert])
            h = F.silu(x[token] @ self.up[expert]) @ self.down[expert]
            out.index_add_(0, token, h * weights[token, which, None])
        return out


with torch.device("cuda"):
    layer = Mixture()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
for step in range(STEPS):
    x = torch.randn(TOKENS, WIDTH, device="cuda")
    loss = (layer(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
