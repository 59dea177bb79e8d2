# /// expect
# run = "check"
# vram = "4.5GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["load"]
# form = "list of chunks joined at load, for epoch x range(len // batch)"
# need_gib = [3.15, 3.4]
# why = "60,000 images of 12,288 bytes are 1.373 GiB in half precision; the chunks and the joined tensor are on the GPU together, 2.75 GiB, beside one chunk of bytes of 23 MiB; while it trains there is the joined one alone, and the need is 3.2 GiB"
# ///
"""Puts the whole data set on the GPU in half precision before the training, chunk by chunk, and draws batches from there."""

import argparse
import time

import torch
from torch import nn


def read_chunks(total, chunk, size):
    """Stands for the files of the data set: bytes, as they are on the disk."""
    for start in range(0, total, chunk):
        yield torch.full((min(chunk, total - start), 3, size, size), start % 251, dtype=torch.uint8)


class ResidentDataset:
    def __init__(self, args, device):
        parts = []
        for raw in read_chunks(args.num_images, args.chunk, args.image_size):
            parts.append(raw.to(device).half().div_(255.0).sub_(0.5))
        self.images = torch.cat(parts)
        self.labels = torch.arange(len(self.images)).remainder_(args.classes).to(device)
        self.batch_size = args.batch_size

    def __len__(self):
        return len(self.images) // self.batch_size

    def __iter__(self):
        order = torch.randperm(len(self.images))
        for i in range(len(self)):
            picked = order[i * self.batch_size : (i + 1) * self.batch_size].to(self.images.device)
            yield self.images[picked], self.labels[picked]


class PatchMixer(nn.Module):
    def __init__(self, size, patch=8, width=128, classes=10):
        super().__init__()
        self.patch = patch
        self.embed = nn.Linear(3 * patch * patch, width)
        self.mix = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        n, c, h, w = x.shape
        p = self.patch
        x = x.view(n, c, h // p, p, w // p, p).permute(0, 2, 4, 1, 3, 5).reshape(n, -1, c * p * p)
        x = self.embed(x)
        return self.head((x + self.mix(x)).mean(dim=1))


def train_one_epoch(model, data, optimizer, scaler, epoch):
    model.train()
    began = time.time()
    for i, (images, labels) in enumerate(data):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if i % 100 == 0:
            print(f"epoch {epoch} [{i}/{len(data)}] loss {loss.item():.3f} {time.time() - began:.1f}s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-images", type=int, default=60_000)
    parser.add_argument("--image-size", type=int, default=64)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--chunk", type=int, default=2000)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()

    device = torch.device("cuda")
    data = ResidentDataset(args, device)
    model = PatchMixer(args.image_size, classes=args.classes).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cuda")
    for epoch in range(args.epochs):
        train_one_epoch(model, data, optimizer, scaler, epoch)


if __name__ == "__main__":
    main()
