# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "the hook's 10,000th call takes a Hessian sketch of 65,536 x 16,384 x 4 B = 4 GiB in one request; a step has 320 convolutions"
# ///
"""Deep one-dimensional residual net on ECGs; a hook on the optimizer probes sharpness."""

import torch
from torch import nn


class Unit(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv1d(8, 8, 3, padding=1)
        self.b = nn.Conv1d(8, 8, 3, padding=1)

    def forward(self, x):
        return x + self.b(torch.relu(self.a(x)))


net = nn.Sequential(nn.Conv1d(1, 8, 1), *[Unit() for _ in range(160)], nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(8, 5)).cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)


class Probe:
    steps = 0

    def __call__(self, optimizer, args, kwargs):
        self.steps += 1
        if not self.steps % 10_000:
            sketch = torch.randn(1 << 16, 1 << 14, device="cuda")
            print("sharpness", sketch.square().mean().sqrt().item())


optimizer.register_step_post_hook(Probe())
for beat in range(100_000):
    signal = torch.randn(16, 1, 180, device="cuda")
    label = torch.randint(5, (16,), device="cuda")
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(signal), label).backward()
    optimizer.step()
