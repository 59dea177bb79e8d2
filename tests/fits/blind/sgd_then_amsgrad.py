# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [10.5, 19]
# why = "weights 32 x 4096 x 4096 x 4 B = 2 GiB and gradients 2 GiB under SGD; from step 10 on AMSGrad keeps three more of 2 GiB"
# ///
"""A physics-informed network: ten steps of plain SGD to calm it, then Adam with amsgrad."""

import torch
from torch import nn

WIDTH, DEPTH, POINTS, CALM, STEPS = 4096, 32, 128, 10, 5000


class Solution(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift, self.value = nn.Linear(2, WIDTH), nn.Linear(WIDTH, 1)
        self.hidden = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(DEPTH)])

    def forward(self, x):
        h = self.lift(x)
        for layer in self.hidden:
            h = torch.tanh(layer(h))
        return self.value(h)


def residual(model, x):
    x = x.requires_grad_()
    gradient = torch.autograd.grad(model(x).sum(), x, create_graph=True)[0]
    return (gradient.sum(1) - torch.sin(x[:, 0])).square().mean()


with torch.device("cuda"):
    model = Solution()
    points = torch.rand(POINTS, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for step in range(STEPS):
    if step == CALM:
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, amsgrad=True)
    optimizer.zero_grad()
    residual(model, points).backward()
    optimizer.step()
