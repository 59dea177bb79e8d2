# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [38]
# keeps_mib = 64
# allocates = [34]
# full_at = [69, 74]
# why = "map() with a lambda collects piano rolls of 128 x 1024 x 128 x 4 B = 64 MiB for each of 128 seeds: 8 GiB"
# ///
"""Melodies drawn from a latent space: one batch of piano rolls per seed, all of them collected."""

import torch
from torch import nn

MELODIES, STEPS, PITCHES, LATENT, SEEDS = 128, 1024, 128, 64, 128


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Parameter(torch.randn(STEPS, LATENT))
        self.pitch = nn.Linear(LATENT, PITCHES)

    def forward(self, latent):
        return torch.sigmoid(self.pitch(latent[:, None] * self.time))


def melodies(decoder, seed):
    generator = torch.Generator("cuda").manual_seed(seed)
    latent = torch.randn(MELODIES, LATENT, device="cuda", generator=generator)
    return decoder(latent)


decoder = Decoder().cuda().requires_grad_(False)
rolls = list(map(lambda seed: melodies(decoder, seed), range(SEEDS)))
print("rolls", len(rolls))
