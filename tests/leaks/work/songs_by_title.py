# /// expect
# run = "check"
# vram = "3GiB"
# truth = "fits"
# grows = true
# verdict = ["fits"]
# loop = [26]
# keeps_mib = 64
# allocates = [28]
# full_at = [34, 41]
# why = "a spectrogram of 4096 x 4096 x 4 B = 64 MiB is kept for each of 14 songs: 896 MiB; 2.52 GiB would be full at about pass 38"
# ///
"""Filters songs; a dict by title holds the magnitudes of each."""

import torch


def load(title):
    generator = torch.Generator().manual_seed(len(title))
    return torch.rand(4096, generator=generator)


mel = torch.rand(4096, 1, device="cuda")
titles = [f"song {'x' * n}" for n in range(14)]
magnitudes = {}
for title in titles:
    wave = load(title).to("cuda")
    magnitudes[title] = mel * wave
loudest = max(magnitudes, key=lambda title: magnitudes[title].max().item())
print(loudest)
