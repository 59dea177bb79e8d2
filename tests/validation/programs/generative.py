"""Trains a generative model of images in three steps: a GAN of transposed convolutions, or a variational autoencoder."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("model", choices=["gan", "vae"])
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--width", type=int, default=64)
args = parser.parse_args()
WIDTHS = [args.width * factor for factor in (1, 2, 4, 8)]


def encoder(last):
    """Halves the resolution of 128 × 128 images four times."""
    layers = []
    for inner, outer in zip([3, *WIDTHS], WIDTHS):
        layers += [nn.Conv2d(inner, outer, 4, 2, 1), nn.BatchNorm2d(outer), nn.LeakyReLU(0.2, inplace=True)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(WIDTHS[-1] * 64, last))


def decoder(first):
    """The way back."""
    layers = [nn.Linear(first, WIDTHS[-1] * 64), nn.Unflatten(1, (WIDTHS[-1], 8, 8))]
    for inner, outer in zip(WIDTHS[::-1], [*WIDTHS[-2::-1], args.width]):
        layers += [nn.ConvTranspose2d(inner, outer, 4, 2, 1), nn.BatchNorm2d(outer), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers, nn.Conv2d(args.width, 3, 3, padding=1), nn.Tanh())


def adversaries():
    """A step of the discriminator, then one of the generator."""
    generator, discriminator = decoder(128).cuda(), encoder(1).cuda()
    optimizers = [torch.optim.Adam(model.parameters(), lr=2e-4, betas=(0.5, 0.999)) for model in (generator, discriminator)]
    ones, zeros = torch.ones(args.batch, 1, device="cuda"), torch.zeros(args.batch, 1, device="cuda")
    for _ in range(3):
        real = torch.randn(args.batch, 3, 128, 128, device="cuda")
        fake = generator(torch.randn(args.batch, 128, device="cuda"))
        optimizers[1].zero_grad()
        loss = F.binary_cross_entropy_with_logits(discriminator(real), ones)
        loss = loss + F.binary_cross_entropy_with_logits(discriminator(fake.detach()), zeros)
        loss.backward()
        optimizers[1].step()
        optimizers[0].zero_grad()
        F.binary_cross_entropy_with_logits(discriminator(fake), ones).backward()
        optimizers[0].step()


def autoencoder():
    """Reconstruction and divergence."""
    down, up = encoder(256).cuda(), decoder(128).cuda()
    optimizer = torch.optim.RMSprop([*down.parameters(), *up.parameters()], lr=1e-4)
    for _ in range(3):
        images = torch.rand(args.batch, 3, 128, 128, device="cuda")
        mean, log_variance = down(images).chunk(2, 1)
        made = up(mean + torch.randn_like(mean) * (log_variance / 2).exp())
        loss = F.mse_loss(made, images, reduction="sum") + (mean**2 + log_variance.exp() - log_variance).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


adversaries() if args.model == "gan" else autoencoder()
