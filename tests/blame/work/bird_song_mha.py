# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "attention"
# first_finding = ["attention-matrix"]
# lines = [27, 42]
# why = "nn.MultiheadAttention returns its weights unless told otherwise and so builds the matrix: 4 recordings x 8 heads x 6000^2 x 4 B = 4395 MiB, and its softmax another 4395: 8790 + 410 of 8192 MiB"
# ///
"""Detects bird song in long spectrograms with a single attention layer over all frames."""

import torch
from torch import nn


class SongDetector(nn.Module):
    def __init__(self, mels=80, width=256):
        super().__init__()
        self.frames = nn.Linear(mels, width)
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 8, batch_first=True)
        self.species = nn.Linear(width, 60)

    def forward(self, spectrogram):
        x = self.norm(self.frames(spectrogram))
        attended, _ = self.attention(x, x, x)
        return self.species((x + attended).amax(dim=1))


def recordings(batches):
    for _ in range(batches):
        yield torch.randn(4, 6000, 80), torch.randint(0, 2, (4, 60)).float()


def train():
    model = SongDetector().to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for spectrogram, species in recordings(10):
        spectrogram, species = spectrogram.to("cuda"), species.to("cuda")
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(spectrogram), species)
        loss.backward()
        optimizer.step()
        print(loss.item())


if __name__ == "__main__":
    train()
