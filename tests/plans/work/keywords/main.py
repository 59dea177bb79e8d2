"""Trains a keyword spotter on random spectrograms."""
import argparse
from itertools import cycle, islice

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset


class Clips(Dataset):
    def __len__(self):
        return 600

    def __getitem__(self, index):
        return torch.full((400, 64), index / 600), index % 35


class Spotter(nn.Module):
    def __init__(self, width=256, depth=5):
        super().__init__()
        self.proj = nn.Linear(64, width)
        self.mixers = nn.ModuleList([
            nn.TransformerEncoderLayer(width, 4, 1024, dropout=0.0, activation="gelu", batch_first=True)
            for _ in range(depth)
        ])
        self.cls = nn.Linear(width, 35)

    def forward(self, spec):
        h = self.proj(spec)
        for mixer in self.mixers:
            h = mixer(h)
        return self.cls(h.mean(dim=1))


def update(model, batches, optimizer, count):
    total = 0.0
    for spec, label in batches:
        loss = nn.functional.cross_entropy(model(spec.to("cuda")), label.to("cuda"))
        (loss / count).backward()
        total += loss.detach()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return total / count


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("--per-device-batch", default=16, type=int)
    cli.add_argument("--gradient-accumulation-steps", default=1, type=int)
    cli.add_argument("--updates", default=5, type=int)
    cli.add_argument("--num-workers", default=0, type=int)
    cli.add_argument("--save-checkpoint", default=None, metavar="FILE")
    o = cli.parse_args()

    net = Spotter().to("cuda")
    adam = optim.NAdam(net.parameters(), lr=1e-3)
    stream = cycle(DataLoader(Clips(), o.per_device_batch, shuffle=True, drop_last=True, num_workers=o.num_workers))
    for n in range(o.updates):
        k = o.gradient_accumulation_steps
        print("update", n, "loss", float(update(net, islice(stream, k), adam, k)))
    if o.save_checkpoint:
        torch.save({"net": net.state_dict()}, o.save_checkpoint)
