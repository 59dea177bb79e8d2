"""Trains an MLP-Mixer on flattened patches."""
import argparse

import torch
from torch import nn

from layers import Mixer


def options():
    parser = argparse.ArgumentParser()
    group = parser.add_argument_group("training")
    group.add_argument("--bs", dest="batch", type=int, default=64)
    group.add_argument("--grad-checkpoint", action="store_true")
    group.add_argument("--epochs", type=int, default=2)
    group = parser.add_argument_group("files")
    group.add_argument("--ckpt", metavar="FILE", help="continue from this checkpoint")
    group.add_argument("--ckpt-freq", type=int, default=0)
    return parser.parse_args()


def one_epoch(model, optimizer, batch):
    for _ in range(3):
        patches = torch.randn(batch, 196, 768, device="cuda")
        labels = torch.randint(1000, (batch,), device="cuda")
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(patches), labels)
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    opts = options()
    model = Mixer(thrifty=opts.grad_checkpoint).cuda()
    if opts.ckpt:
        model.load_state_dict(torch.load(opts.ckpt, weights_only=True))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    for epoch in range(opts.epochs):
        print(epoch, one_epoch(model, optimizer, opts.batch))
        if opts.ckpt_freq and epoch % opts.ckpt_freq == 0:
            torch.save(model.state_dict(), f"mixer-{epoch}.pt")


if __name__ == "__main__":
    main()
