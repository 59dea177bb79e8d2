"""A part of the case `configs_some_fail`: its verdicts are in `case.json`."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} is not divisible by {heads} heads")
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, n, w = x.shape
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in self.qkv(self.ln1(x)).chunk(3, dim=-1))
        att = torch.softmax(q @ k.transpose(-2, -1) * (w // self.heads) ** -0.5, dim=-1)
        x = x + self.proj((att @ v).transpose(1, 2).reshape(b, n, w))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--width", type=int, default=512)
    ap.add_argument("--heads", type=int, default=8)
    ap.add_argument("--layers", type=int, default=12)
    args = ap.parse_args()
    with torch.device("cuda"):
        model = nn.Sequential(*[Layer(args.width, args.heads) for _ in range(args.layers)])
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for step in range(3):
        loss = model(torch.randn(4, 256, args.width, device="cuda")).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
