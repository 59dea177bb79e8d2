# /// expect
# run = "check"
# vram = "8GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "activations"
# no_finding = ["batch-too-large", "need-exceeds-device"]
# why = "8 x 128 x 65535 x 4 B = 256 MiB: the checkpoints keep 11 of them (2816 MiB), and one block at a time is recomputed, with 3 to 5 more: 4096 + 410 of 8192 MiB; without them ten blocks would save 4 each, 10 GiB"
# ///
"""Dilated convolutions over raw audio; every block is recomputed in the backward pass."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

BATCH, SAMPLES, CHANNELS = 8, 65_536, 128


class Dilated(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.signal = nn.Conv1d(channels, channels, 3, dilation=dilation, padding=dilation)
        self.gate = nn.Conv1d(channels, channels, 3, dilation=dilation, padding=dilation)
        self.mix = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        return x + self.mix(torch.tanh(self.signal(x)) * torch.sigmoid(self.gate(x)))


class WaveStack(nn.Module):
    def __init__(self, blocks=10):
        super().__init__()
        self.lift = nn.Conv1d(1, CHANNELS, 1)
        self.blocks = nn.ModuleList(Dilated(CHANNELS, 2**i) for i in range(blocks))
        self.drop = nn.Conv1d(CHANNELS, 1, 1)

    def forward(self, wave):
        x = self.lift(wave)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.drop(x)


model = WaveStack().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
for step in range(5):
    wave = torch.randn(BATCH, 1, SAMPLES, device="cuda")
    optimizer.zero_grad()
    loss = (model(wave[..., :-1]) - wave[..., 1:]).abs().mean()
    loss.backward()
    optimizer.step()
    print(f"step {step}: {loss.item():.3f}")
