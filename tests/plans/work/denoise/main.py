"""Trains a small diffusion model on random pictures."""
import argparse
import math

import torch
from torch import nn
from torch.nn import functional as F


def embed_time(t, dim):
    freq = torch.exp(-math.log(10000) * torch.arange(dim // 2, device=t.device) / (dim // 2))
    angle = t[:, None].float() * freq[None]
    return torch.cat([angle.sin(), angle.cos()], dim=1)


class ResBlock(nn.Module):
    def __init__(self, cin, cout, tdim):
        super().__init__()
        self.n1, self.c1 = nn.GroupNorm(8, cin), nn.Conv2d(cin, cout, 3, padding=1)
        self.t = nn.Linear(tdim, cout)
        self.n2, self.c2 = nn.GroupNorm(8, cout), nn.Conv2d(cout, cout, 3, padding=1)
        self.skip = nn.Conv2d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x, t):
        h = self.c1(F.silu(self.n1(x))) + self.t(t)[:, :, None, None]
        return self.c2(F.silu(self.n2(h))) + self.skip(x)


class UNet(nn.Module):
    def __init__(self, width=64, tdim=256):
        super().__init__()
        self.tdim = tdim
        self.time = nn.Sequential(nn.Linear(tdim, tdim), nn.SiLU(), nn.Linear(tdim, tdim))
        self.inp = nn.Conv2d(3, width, 3, padding=1)
        self.d1 = ResBlock(width, width, tdim)
        self.d2 = ResBlock(width, 2 * width, tdim)
        self.mid = ResBlock(2 * width, 2 * width, tdim)
        self.u2 = ResBlock(4 * width, width, tdim)
        self.u1 = ResBlock(2 * width, width, tdim)
        self.out = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x, t):
        t = self.time(embed_time(t, self.tdim).to(x.dtype))
        a = self.d1(self.inp(x), t)
        b = self.d2(F.avg_pool2d(a, 2), t)
        m = self.mid(F.avg_pool2d(b, 2), t)
        m = self.u2(torch.cat([F.interpolate(m, scale_factor=2), b], 1), t)
        return self.out(self.u1(torch.cat([F.interpolate(m, scale_factor=2), a], 1), t))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--size", type=int, default=64, help="height and width of the pictures")
    ap.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    ap.add_argument("--iterations", type=int, default=6)
    opt = ap.parse_args()

    dtype = getattr(torch, opt.dtype)
    net = UNet().to("cuda", dtype)
    optim = torch.optim.Adam(net.parameters(), lr=2e-4)
    beta = torch.linspace(1e-4, 0.02, 1000, device="cuda")
    alpha = torch.cumprod(1 - beta, 0)

    for it in range(opt.iterations):
        x0 = torch.randn(opt.batch_size, 3, opt.size, opt.size).to("cuda", dtype)
        t = torch.randint(0, 1000, (opt.batch_size,), device="cuda")
        a = alpha[t].view(-1, 1, 1, 1).to(dtype)
        noise = torch.randn_like(x0)
        loss = F.mse_loss(net(a.sqrt() * x0 + (1 - a).sqrt() * noise, t), noise)
        optim.zero_grad()
        loss.backward()
        optim.step()
        if it % 2 == 0:
            print(it, loss.item())
