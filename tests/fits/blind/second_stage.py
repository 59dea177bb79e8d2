# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [9.6, 20]
# why = "the first stage is small; the second, a denoiser of 36 x 4096 x 4096 x 4 B = 2.25 GiB, needs 9 GiB with gradients and moments"
# ///
"""Latent diffusion in two stages: an autoencoder for twelve steps, then a denoiser on its latents."""

import torch
from torch import nn

INPUTS, LATENT, DEPTH, BATCH, STEPS = 8192, 4096, 36, 32, 12


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(INPUTS, LATENT), nn.Linear(LATENT, INPUTS)

    def loss(self, x):
        return (self.decoder(self.encoder(x)) - x).square().mean()


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(LATENT, LATENT, bias=False) for _ in range(DEPTH)])

    def forward(self, z):
        for layer in self.layers:
            z = z + layer(z).sigmoid()
        return z


def stage(parameters, objective):
    optimizer = torch.optim.Adam(parameters, lr=1e-4)
    for _ in range(STEPS):
        loss = objective(torch.randn(BATCH, INPUTS, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


with torch.device("cuda"):
    autoencoder = Autoencoder()
stage(autoencoder.parameters(), autoencoder.loss)
autoencoder.requires_grad_(False).zero_grad()
with torch.device("cuda"):
    denoiser = Denoiser()
stage(denoiser.parameters(), lambda x: denoiser(autoencoder.encoder(x)).square().mean())
