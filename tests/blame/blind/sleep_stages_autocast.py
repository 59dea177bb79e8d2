# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "activations"
# first_finding = ["batch-too-large", "need-exceeds-device"]
# no_finding = ["weights-loaded-twice"]
# lines = [27, 28, 39, 54]
# why = "64 x 512 = 32768 steps: a block saves its norm's input in float32 (128 MiB), the norm's output in bfloat16 (64), and the hidden map before and after GELU (2 x 256): 704 MiB, five blocks 3520; with weights of 160 MiB and autocast's 80 some 3760 of 2662, full in the fourth block"
# ///
"""Learns sleep stages from nights of EEG, in mixed precision."""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        hidden = self.up(self.norm(x))
        return x + self.down(F.gelu(hidden))


class SleepNet(nn.Module):
    def __init__(self, electrodes=32, width=1024, blocks=5, stages=5):
        super().__init__()
        self.enter = nn.Linear(electrodes, width)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(blocks)))
        self.leave = nn.Linear(width, stages)

    def forward(self, signal):
        return self.leave(self.blocks(self.enter(signal)).mean(dim=1))


def nights(count, batch=64, samples=512):
    for _ in range(count):
        yield torch.randn(batch, samples, 32), torch.randint(0, 5, (batch,))


def train(device="cuda"):
    net = SleepNet().to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    for step, (signal, stage) in enumerate(nights(4)):
        signal, stage = signal.to(device), stage.to(device)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = F.cross_entropy(net(signal), stage)
        loss.backward()
        optimizer.step()
        print(step, loss.item())


train()
