"""Trains a tagger of sounds in three steps: waveform, spectrogram by Fourier transform, convolutions in one dimension and in two."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--seconds", type=int, default=8)
args = parser.parse_args()


class Tagger(nn.Module):
    """A branch on the waveform and one on its spectrogram."""

    def __init__(self):
        super().__init__()
        widths = (1, 64, 128, 256)
        self.wave = nn.Sequential(
            *(nn.Sequential(nn.Conv1d(a, b, 11, stride=4, padding=5), nn.BatchNorm1d(b), nn.GELU()) for a, b in zip(widths, widths[1:]))
        )
        self.picture = nn.Sequential(
            *(nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.GELU(), nn.MaxPool2d(2)) for a, b in zip(widths, widths[1:]))
        )
        self.tags = nn.Linear(512, 527)
        self.register_buffer("window", torch.hann_window(1024))

    def forward(self, sound):
        spectrum = torch.stft(sound, 1024, 256, window=self.window, return_complex=True).abs().clamp_min(1e-5).log()
        wave, picture = self.wave(sound[:, None]), self.picture(spectrum[:, None])
        return self.tags(torch.cat([wave.mean(-1), picture.mean((-2, -1))], 1))


model = Tagger().cuda()
optimizer = torch.optim.NAdam(model.parameters())
for _ in range(3):
    sound = torch.randn(args.batch, 16_000 * args.seconds, device="cuda")
    optimizer.zero_grad()
    F.binary_cross_entropy_with_logits(model(sound), torch.zeros(args.batch, 527, device="cuda")).backward()
    optimizer.step()
