"""Trains a vector-quantized autoencoder; settings are YAML files that include others."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn

import config


class Quantizer(nn.Module):
    def __init__(self, codes, dim):
        super().__init__()
        self.codes = nn.Embedding(codes, dim)

    def forward(self, z):
        flat = z.permute(0, 2, 3, 1).reshape(-1, z.shape[1])
        index = torch.cdist(flat, self.codes.weight).argmin(1)
        q = self.codes(index).view(z.shape[0], z.shape[2], z.shape[3], -1).permute(0, 3, 1, 2)
        loss = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        return z + (q - z).detach(), loss


def block(c):
    return nn.Sequential(nn.Conv2d(c, c, 3, padding=1), nn.ELU(), nn.Conv2d(c, c, 3, padding=1), nn.ELU())


class VQ(nn.Module):
    def __init__(self, width, dim, codes):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(3, width, 4, 2, 1), block(width), block(width), nn.Conv2d(width, dim, 4, 2, 1))
        self.quantize = Quantizer(codes, dim)
        self.dec = nn.Sequential(nn.ConvTranspose2d(dim, width, 4, 2, 1), block(width), block(width), nn.ConvTranspose2d(width, 3, 4, 2, 1))

    def forward(self, x):
        q, extra = self.quantize(self.enc(x))
        return F.l1_loss(self.dec(q), x) + extra


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("-c", "--conf", default="run.yaml")
    c = config.load(ap.parse_args().conf)
    t = c["train"]
    net = VQ(**c["net"]).cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=t["lr"])
    for step in range(t["steps"]):
        x = torch.rand(t["batch"], 3, t["side"], t["side"])
        for part in x.chunk(t["accumulate"]):
            loss = net(part.cuda()) * len(part) / len(x)
            loss.backward()
        opt.step()
        opt.zero_grad()
        print(c["title"], step)


if __name__ == "__main__":
    main()
