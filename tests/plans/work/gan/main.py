"""Trains a GAN on random pictures; a YAML file has the settings."""
import argparse
import pathlib

import torch
import yaml
from torch import nn

DTYPES = {"32": None, "bf16": torch.bfloat16}


def up(cin, cout):
    return nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(cin, cout, 3, padding=1), nn.LeakyReLU(0.2))


def down(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(cout, cout, 3, padding=1), nn.LeakyReLU(0.2))


class Generator(nn.Module):
    def __init__(self, z, ch):
        super().__init__()
        self.first = nn.Linear(z, 8 * ch * 16)
        self.ups = nn.Sequential(up(8 * ch, 8 * ch), up(8 * ch, 4 * ch), up(4 * ch, 2 * ch), up(2 * ch, ch))
        self.rgb = nn.Conv2d(ch, 3, 3, padding=1)
        self.ch = ch

    def forward(self, z):
        return self.rgb(self.ups(self.first(z).view(len(z), 8 * self.ch, 4, 4))).tanh()


class Critic(nn.Sequential):
    def __init__(self, ch):
        super().__init__(down(3, ch), down(ch, 2 * ch), down(2 * ch, 4 * ch), down(4 * ch, 8 * ch), nn.Flatten(), nn.Linear(8 * ch * 16, 1))


def main(cfg):
    g, c = Generator(cfg["model"]["latent"], cfg["model"]["channels"]).cuda(), Critic(cfg["model"]["channels"]).cuda()
    og = torch.optim.Adam(g.parameters(), cfg["optimizer"]["lr_g"], betas=(0.5, 0.9))
    oc = torch.optim.Adam(c.parameters(), cfg["optimizer"]["lr_c"], betas=(0.5, 0.9))
    n = cfg["trainer"]["batch"]
    low = DTYPES[str(cfg["trainer"]["precision"])]
    for step in range(cfg["trainer"]["steps"]):
        real = torch.rand(n, 3, 64, 64).mul(2).sub(1).cuda()
        z = torch.randn(n, cfg["model"]["latent"], device="cuda")
        with torch.autocast("cuda", dtype=low, enabled=low is not None):
            fake = g(z)
            loss_c = (1 - c(real)).relu().mean() + (1 + c(fake.detach())).relu().mean()
        oc.zero_grad()
        loss_c.backward()
        oc.step()
        with torch.autocast("cuda", dtype=low, enabled=low is not None):
            loss_g = -c(fake).mean()
        og.zero_grad()
        loss_g.backward()
        og.step()
        if cfg["checkpoint"]["every"] and step % cfg["checkpoint"]["every"] == 0:
            torch.save(g.state_dict(), cfg["checkpoint"]["path"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=pathlib.Path, default="gan.yaml")
    main(yaml.safe_load(parser.parse_args().config.read_text()))
