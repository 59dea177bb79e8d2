"""Trains a vision transformer classifier."""
import argparse
import os

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm2 = nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return x + self.ff(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, image=224, patch=16, dim=384, depth=12, heads=6, classes=100, recompute=False):
        super().__init__()
        self.recompute = recompute
        self.patch = nn.Conv2d(3, dim, patch, patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, dim) * 0.02)
        self.layers = nn.ModuleList([Layer(dim, heads) for _ in range(depth)])
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, classes))

    def forward(self, img):
        x = self.patch(img).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.pos
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.recompute else layer(x)
        return self.head(x[:, 0])


class RandomImages(torch.utils.data.Dataset):
    def __init__(self, n):
        self.n = n
        self.base = torch.rand(3, 224, 224)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.base.roll(i, dims=2), i % 100


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--gradient-checkpointing", action="store_true")
    parser.add_argument("--checkpoint-dir", default=None, help="where to write model.pt")
    parser.add_argument("--checkpoint-every", type=int, default=1, help="epochs between two files")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--weight-decay", type=float, default=0.05)
    return parser.parse_args()


def main(args):
    loader = torch.utils.data.DataLoader(RandomImages(640), batch_size=args.batch_size, drop_last=True)
    model = ViT(recompute=args.gradient_checkpointing).cuda()
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    for epoch in range(args.epochs):
        for images, labels in loader:
            images, labels = images.cuda(), labels.cuda()
            loss = criterion(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", loss.item())
        if args.checkpoint_dir and (epoch + 1) % args.checkpoint_every == 0:
            torch.save(model.state_dict(), os.path.join(args.checkpoint_dir, "model.pt"))


if __name__ == "__main__":
    main(get_args())
