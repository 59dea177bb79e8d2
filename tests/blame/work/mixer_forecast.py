# /// expect
# run = "check"
# vram = "12GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "activations"
# first_finding = ["batch-too-large", "need-exceeds-device"]
# lines = [50, 29, 40]
# why = "one [64, 1024, 512] tensor is 128 MiB; a block saves the two norms' inputs (128 each) and outputs (128 each, of the first its transposed copy), the token mix (2 x 256 MiB at 2048 hidden) and the channel mix (2 x 512 MiB): 2 GiB, ten blocks 20 GiB"
# ///
"""Station forecasts by an MLP mixer over 1024 stations; one epoch of training."""

import torch
from torch import nn

STATIONS, WIDTH, BLOCKS, BATCH = 1024, 512, 10, 64


class MixerBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.token_norm = nn.LayerNorm(WIDTH)
        self.token_mix = nn.Sequential(nn.Linear(STATIONS, 2048), nn.GELU(), nn.Linear(2048, STATIONS))
        self.channel_norm = nn.LayerNorm(WIDTH)
        self.channel_mix = nn.Sequential(nn.Linear(WIDTH, 2048), nn.GELU(), nn.Linear(2048, WIDTH))

    def forward(self, x):
        x = x + self.token_mix(self.token_norm(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channel_mix(self.channel_norm(x))


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(24, WIDTH)
        self.blocks = nn.Sequential(*[MixerBlock() for _ in range(BLOCKS)])
        self.head = nn.Linear(WIDTH, 6)

    def forward(self, x):
        return self.head(self.blocks(self.embed(x)))


def main():
    model = Forecaster().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for step in range(4):
        history = torch.randn(BATCH, STATIONS, 24).cuda()
        target = torch.randn(BATCH, STATIONS, 6).cuda()
        optimizer.zero_grad()
        loss = nn.functional.l1_loss(model(history), target)
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
