"""Trains a story model with RMSNorm and gated MLPs."""
import argparse
from contextlib import nullcontext

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = (f(x).view(n, t, self.h, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        return self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(n, t, d))


class Gated(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.up, self.gate, self.down = nn.Linear(d, 3 * d), nn.Linear(d, 3 * d), nn.Linear(3 * d, d)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class StoryLM(nn.Module):
    def __init__(self, vocab, d=448, layers=6, heads=7):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.parts = nn.ModuleList()
        for _ in range(layers):
            self.parts += [nn.RMSNorm(d), Attention(d, heads), nn.RMSNorm(d), Gated(d)]
        self.out = nn.Linear(d, vocab, bias=False)

    def forward(self, ids):
        x = self.emb(ids)
        for norm, part in zip(self.parts[::2], self.parts[1::2]):
            x = x + part(norm(x))
        return self.out(x)


def context(precision):
    if precision == "fp32":
        return nullcontext()
    return torch.autocast("cuda", dtype={"bf16": torch.bfloat16, "fp16": torch.float16}[precision])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--stories", type=int, default=12, help="stories per step")
    ap.add_argument("--context-length", type=int, default=768)
    ap.add_argument("--precision", default="fp32", choices=("fp32", "bf16", "fp16"))
    ap.add_argument("--warmup", type=int, default=2)
    ap.add_argument("--steps", type=int, default=6)
    args = ap.parse_args()

    model = StoryLM(1000).cuda()
    opt = torch.optim.AdamW(model.parameters(), lr=4e-4, betas=(0.9, 0.95))
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / args.warmup))
    scaler = torch.amp.GradScaler(enabled=args.precision == "fp16")
    for _ in range(args.steps):
        ids = torch.randint(1000, (args.stories, args.context_length + 1), device="cuda")
        with context(args.precision):
            logits = model(ids[:, :-1])
            loss = F.cross_entropy(logits.reshape(-1, 1000), ids[:, 1:].reshape(-1))
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        sched.step()
        opt.zero_grad()


if __name__ == "__main__":
    main()
