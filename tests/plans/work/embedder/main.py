"""Trains a text embedder with in-batch negatives."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Embedder(nn.Module):
    def __init__(self, vocab, dim, layers):
        super().__init__()
        self.words = nn.Embedding(vocab, dim)
        self.rnn = nn.ModuleList()
        for _ in range(layers):
            self.rnn.append(nn.Sequential(nn.Linear(dim, 3 * dim), nn.GELU(), nn.Linear(3 * dim, dim)))
        self.pool = nn.Linear(dim, dim)

    def forward(self, ids):
        x = self.words(ids)
        for mix in self.rnn:
            x = x + mix(x)
        return F.normalize(self.pool(x.mean(1)), dim=-1)


def info_nce(a, b, temperature):
    return F.cross_entropy(a @ b.t() / temperature, torch.arange(len(a), device=a.device))


def run(args):
    model = Embedder(20000, 384, 6).cuda()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scaler = torch.amp.GradScaler("cuda", enabled=args.amp)
    for step in range(1, args.steps + 1):
        query = torch.randint(20000, (args.pairs, args.tokens)).cuda()
        answer = torch.randint(20000, (args.pairs, args.tokens)).cuda()
        with torch.autocast("cuda", torch.float16, enabled=args.amp):
            loss = info_nce(model(query), model(answer), args.temperature)
        opt.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        if args.verbose:
            print(f"{step:4d} {loss.item():.4f}")


if __name__ == "__main__":
    flag = argparse.BooleanOptionalAction
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--pairs", type=int, default=256, help="pairs per step, each a negative of all others")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--amp", action=flag, default=False)
    parser.add_argument("--verbose", action=flag, default=True)
    parser.add_argument("--temperature", type=float, default=0.05)
    parser.add_argument("--lr", type=float, default=2e-5)
    parser.add_argument("--steps", type=int, default=6)
    run(parser.parse_args())
