# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "attention"
# first_finding = ["attention-matrix"]
# lines = [28]
# why = "no fused kernel takes float64, so scaled_dot_product_attention makes the matrix: 8 heads x 8192 x 8192 x 8 B = 4 GiB of scores and 4 GiB for their softmax, with 5.52 free; the projections take 16 MiB each"
# ///
"""Transformer over spin configurations, in double precision."""

import torch
import torch.nn.functional as F
from torch import nn


class SpinAttention(nn.Module):
    def __init__(self, width=256, heads=8):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        b, n, w = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        return x + self.out(y.transpose(1, 2).reshape(b, n, w))


net = nn.Sequential(nn.Linear(2, 256), SpinAttention(), SpinAttention(), nn.Linear(256, 1)).double().cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
for sweep in range(10):
    spins = torch.randn(1, 8192, 2, device="cuda", dtype=torch.float64)
    energy = net(spins).mean()
    optimizer.zero_grad()
    energy.square().backward()
    optimizer.step()
