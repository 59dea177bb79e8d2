"""Trains a character-level language model on synthetic text."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.ln1 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.ln2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.ln1(x)).split(c, dim=2)
        q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.ln2(x))


class CharLM(nn.Module):
    def __init__(self, vocab=96, dim=384, depth=6, heads=6, block=512):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.zeros(1, block, dim))
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, idx):
        x = self.tok(idx) + self.pos[:, : idx.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32, help="sequences per update")
    parser.add_argument("--accumulate", type=int, default=1, metavar="K",
                        help="compute each batch in K parts")
    parser.add_argument("--amp", action="store_true", help="bf16 autocast")
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--steps", type=int, default=10)
    args = parser.parse_args()

    device = torch.device("cuda")
    model = CharLM().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    text = torch.randint(0, 96, (200_000,))

    for step in range(args.steps):
        start = torch.randint(0, len(text) - 513, (args.batch_size,))
        x = torch.stack([text[i : i + 512] for i in start.tolist()])
        y = torch.stack([text[i + 1 : i + 513] for i in start.tolist()])
        optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for xb, yb in zip(x.chunk(args.accumulate), y.chunk(args.accumulate)):
            xb, yb = xb.to(device), yb.to(device)
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=args.amp):
                loss = F.cross_entropy(model(xb).flatten(0, 1), yb.flatten())
            (loss * len(xb) / len(x)).backward()
            total += loss.item() * len(xb) / len(x)
        optimizer.step()
        print(f"step {step} loss {total:.3f}")


if __name__ == "__main__":
    main()
