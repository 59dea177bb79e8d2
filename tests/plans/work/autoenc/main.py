"""Trains a convolutional autoencoder on random spectrograms."""
import argparse

import torch
from torch import nn

BATCH = 48
WIDTH = 48


class Unit(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.f = nn.Sequential(
            nn.GroupNorm(8, ch), nn.SiLU(), nn.Conv2d(ch, ch, 3, padding=1),
            nn.GroupNorm(8, ch), nn.SiLU(), nn.Conv2d(ch, ch, 3, padding=1),
        )

    def forward(self, x):
        return x + self.f(x)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        w = WIDTH
        self.enc = nn.Sequential(nn.Conv2d(1, w, 3, padding=1), Unit(w), Unit(w),
                                 nn.Conv2d(w, 2 * w, 4, 2, 1), Unit(2 * w), nn.Conv2d(2 * w, 8, 4, 2, 1))
        self.dec = nn.Sequential(nn.ConvTranspose2d(8, 2 * w, 4, 2, 1), Unit(2 * w),
                                 nn.ConvTranspose2d(2 * w, w, 4, 2, 1), Unit(w), nn.Conv2d(w, 1, 3, padding=1))

    def forward(self, x):
        return self.dec(self.enc(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--log-every", type=int, default=4)
    parser.add_argument("--out", default=None, help="write the encoder here")
    args = parser.parse_args()

    model = AutoEncoder().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for step in range(args.steps):
        x = torch.randn(BATCH, 1, 128, 128).cuda()
        loss = nn.functional.mse_loss(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % args.log_every == 0:
            print(step, loss.item())
    if args.out:
        torch.save(model.enc.state_dict(), args.out)


if __name__ == "__main__":
    main()
