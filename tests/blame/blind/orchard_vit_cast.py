# /// expect
# run = "check"
# vram = "3GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "loaded-twice"
# no_finding = ["weights-loaded-twice"]
# why = "a block has 12 x 1536^2 x 4 B = 108 MiB and 14 of them are 1512 of 2662 MiB in float32; the cast adds one parameter at a time, 18 MiB at most, and even both copies would be 2268; afterwards 756, and a batch of 16 photographs some 100"
# ///
"""Counts apples on photographs of an orchard with a vision transformer."""

import torch
from torch import nn
from torch.nn import functional as F


def block(width):
    return nn.ModuleDict({
        "norm_a": nn.LayerNorm(width),
        "norm_b": nn.LayerNorm(width),
        "qkv": nn.Linear(width, 3 * width),
        "out": nn.Linear(width, width),
        "mlp": nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)),
    })


class AppleCounter(nn.Module):
    def __init__(self, width=1536, depth=14, heads=12, patch=16):
        super().__init__()
        self.heads = heads
        self.patches = nn.Conv2d(3, width, patch, stride=patch)
        self.blocks = nn.ModuleList([block(width) for _ in range(depth)])
        self.count = nn.Linear(width, 1)

    def attend(self, part, x):
        q, k, v = part["qkv"](x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return part["out"](F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))

    def forward(self, photos):
        x = self.patches(photos).flatten(2).transpose(1, 2)
        for part in self.blocks:
            x = x + self.attend(part, part["norm_a"](x))
            x = x + part["mlp"](part["norm_b"](x))
        return self.count(x.mean(dim=1)).squeeze(1)


def main():
    device = torch.device("cuda", 0)
    counter = AppleCounter().eval()
    counter = counter.to(device=device)
    counter = counter.to(dtype=torch.bfloat16)
    total = 0.0
    with torch.no_grad():
        for row in range(6):
            photos = torch.rand(16, 3, 224, 224).to(device, torch.bfloat16)
            total += counter(photos).float().sum().item()
    print("apples:", total)


main()
