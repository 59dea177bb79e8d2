# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [31]
# keeps_mib = 64
# allocates = [22, 23]
# full_at = [54, 59]
# why = "each kept error keeps the frame of load() with the waveform, 8 x 1,048,576 x 4 B = 32 MiB, and its scaled copy, 32 MiB; 120 recordings of the wrong rate"
# ///
"""Checks an archive of recordings and reports all errors at the end, as exceptions with their tracebacks."""

import torch

CHANNELS, SAMPLES, RATE = 8, 1_048_576, 16_000
RECORDINGS = [(f"site{number // 10}/{number:03}.wav", 44_100) for number in range(120)]


def load(name, rate):
    waveform = torch.randn(CHANNELS, SAMPLES, device="cuda")
    scaled = waveform / waveform.abs().amax()
    if rate != RATE:
        raise ValueError(f"{name} has {rate} samples a second, not {RATE}")
    return scaled.view(CHANNELS, -1, 1024).square().mean(-1)


def check(recordings):
    energies, rejected = [], []
    for name, rate in recordings:
        try:
            energies.append(load(name, rate).cpu())
        except ValueError as error:
            rejected.append(error)
    return energies, rejected


energies, rejected = check(RECORDINGS)
print(len(energies), "recordings are right,", len(rejected), "are not, first:", rejected[0])
