"""Trains a denoiser in three steps: a U-Net with attention at its lower resolutions, or a transformer on patches (DiT)."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("model", choices=["unet", "dit"])
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--width", type=int, default=128)
parser.add_argument("--bf16", action="store_true")
parser.add_argument("--average", action="store_true", help="keep a moving average of the weights")
parser.add_argument("--sample", action="store_true", help="denoise with the trained model, without gradients")
args = parser.parse_args()


def embedding(times, width):
    """Sines and cosines of the time."""
    rates = torch.exp(-torch.arange(width // 2, device=times.device) * 9.2 / (width // 2))
    angles = times[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], 1)


class Residual(nn.Module):
    """Two convolutions around the time's influence."""

    def __init__(self, inner, outer, width):
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(32, inner), nn.SiLU(), nn.Conv2d(inner, outer, 3, padding=1))
        self.time = nn.Linear(width, outer)
        self.second = nn.Sequential(nn.GroupNorm(32, outer), nn.SiLU(), nn.Conv2d(outer, outer, 3, padding=1))
        self.skip = nn.Conv2d(inner, outer, 1) if inner != outer else nn.Identity()

    def forward(self, x, time):
        return self.skip(x) + self.second(self.first(x) + self.time(time)[:, :, None, None])


class Attention(nn.Module):
    """Self-attention over the pixels."""

    def __init__(self, width, heads=8):
        super().__init__()
        self.heads = heads
        self.norm = nn.GroupNorm(32, width)
        self.qkv = nn.Conv2d(width, 3 * width, 1)
        self.out = nn.Conv2d(width, width, 1)

    def forward(self, x):
        batch, width, height, breadth = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, 3, self.heads, width // self.heads, -1).transpose(-1, -2).unbind(1)
        y = F.scaled_dot_product_attention(q, k, v).transpose(-1, -2).reshape(batch, width, height, breadth)
        return x + self.out(y)


class UNet(nn.Module):
    """Three resolutions down and up again."""

    def __init__(self, width):
        super().__init__()
        self.width = width
        self.enter = nn.Conv2d(4, width, 3, padding=1)
        self.down = nn.ModuleList(Residual(a * width, b * width, width) for a, b in ((1, 1), (1, 2), (2, 4)))
        self.middle = nn.ModuleList([Residual(4 * width, 4 * width, width), Residual(4 * width, 4 * width, width)])
        self.attend = nn.ModuleList([Attention(2 * width), Attention(4 * width), Attention(4 * width)])
        self.up = nn.ModuleList(Residual(a * width, b * width, width) for a, b in ((8, 2), (4, 1), (2, 1)))
        self.leave = nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, x, times):
        time = embedding(times, self.width)
        x = self.enter(x)
        kept = []
        for level, block in enumerate(self.down):
            x = block(x, time)
            x = self.attend[level - 1](x) if level else x
            kept.append(x)
            x = F.avg_pool2d(x, 2)
        x = self.middle[1](self.attend[2](self.middle[0](x, time)), time)
        for block in self.up:
            x = block(torch.cat([F.interpolate(x, scale_factor=2), kept.pop()], 1), time)
        return self.leave(x)


class Block(nn.Module):
    """A transformer block whose norms the time scales and shifts."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width, elementwise_affine=False) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width))
        self.modulate = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))

    def forward(self, x, time):
        shift, scale, gate, shift2, scale2, gate2 = self.modulate(time)[:, None].chunk(6, -1)
        q, k, v = self.qkv(self.norms[0](x) * (1 + scale) + shift).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + gate * self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return x + gate2 * self.mlp(self.norms[1](x) * (1 + scale2) + shift2)


class DiT(nn.Module):
    """Patches of 2 × 2 are tokens."""

    def __init__(self, width):
        super().__init__()
        self.width = width
        self.enter = nn.Conv2d(4, width, 2, stride=2)
        self.blocks = nn.ModuleList(Block(width, width // 64) for _ in range(12))
        self.leave = nn.ConvTranspose2d(width, 4, 2, stride=2)

    def forward(self, x, times):
        x = self.enter(x)
        tokens, time = x.flatten(2).transpose(1, 2), embedding(times, self.width)
        for block in self.blocks:
            tokens = block(tokens, time)
        return self.leave(tokens.transpose(1, 2).view_as(x))


model = (UNet if args.model == "unet" else DiT)(args.width).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
average = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.999)) if args.average else None
for _ in range(3):
    latents = torch.randn(args.batch, 4, 64, 64, device="cuda")
    noise, times = torch.randn_like(latents), torch.rand(args.batch, device="cuda") * 1000
    optimizer.zero_grad()
    with torch.autocast("cuda", torch.bfloat16, enabled=args.bf16):
        loss = F.mse_loss(model(latents + noise, times), noise)
    loss.backward()
    optimizer.step()
    if average is not None:
        average.update_parameters(model)
if args.sample:
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=args.bf16):
        image = torch.randn(args.batch * 4, 4, 64, 64, device="cuda")
        for step in range(8):
            image = image - 0.1 * model(image, torch.full((len(image),), 1000.0 - step, device="cuda"))
