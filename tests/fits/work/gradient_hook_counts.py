# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# kind = 3
# why = "the hook's 15,000th call spreads the gradient over 2,048 directions: 2048 x 512 x 512 x 4 B = 2 GiB, with 1.52 free; a step has 40 blocks of eight operations, run four times"
# ///
"""Weight-shared refinement of optical flow; a hook on one weight measures its gradient's spread."""

import torch
from torch import nn


class Refine(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.gate, self.step, self.norm = nn.Linear(width, width), nn.Linear(width, width), nn.GroupNorm(4, width)

    def forward(self, x):
        for _ in range(4):
            x = self.norm(x + torch.sigmoid(self.gate(x)) * torch.tanh(self.step(x)))
        return x


class Spread:
    def __init__(self, every):
        self.every, self.calls = every, 0

    def __call__(self, grad):
        self.calls += 1
        if self.calls == self.every:
            noise = torch.randn(2_048, *grad.shape, device=grad.device)
            print("spread", (noise * grad).std().item())


first = nn.Linear(512, 512).cuda()
net = nn.Sequential(first, nn.Linear(512, 32), *[Refine() for _ in range(40)], nn.Linear(32, 2)).cuda()
first.weight.register_hook(Spread(15_000))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for _ in range(50_000):
    flow = net(torch.randn(64, 512, device="cuda"))
    optimizer.zero_grad()
    flow.norm(dim=1).mean().backward()
    optimizer.step()
