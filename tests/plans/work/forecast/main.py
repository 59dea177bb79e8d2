"""Trains a forecaster on random series, inside a container that is set up by its environment."""
import os
from dataclasses import dataclass

import torch
from torch import nn


def env(name, default):
    value = os.environ.get(name)
    return default if value is None else type(default)(value)


@dataclass
class Settings:
    micro: int = env("MICRO_BATCH", 16)
    passes: int = env("GRAD_ACCUM", 1)
    rate: float = env("LEARNING_RATE", 1e-3)
    updates: int = env("UPDATES", 5)
    checkpoint_dir: str = env("CHECKPOINT_DIR", "")
    history: int = env("HISTORY", 1024)


class Forecaster(nn.Module):
    def __init__(self, channels=160, levels=9, horizon=24):
        super().__init__()
        self.lift = nn.Conv1d(4, channels, 1)
        self.levels = nn.ModuleList()
        for i in range(levels):
            self.levels.append(nn.Sequential(
                nn.ConstantPad1d((2 * 2 ** i, 0), 0.0), nn.Conv1d(channels, channels, 3, dilation=2 ** i), nn.SELU(),
                nn.Conv1d(channels, channels, 1), nn.SELU(),
            ))
        self.horizon = nn.Linear(channels, horizon)

    def forward(self, series):
        x = self.lift(series)
        for level in self.levels:
            x = x + level(x)
        return self.horizon(x[:, :, -1])


s = Settings()
model = Forecaster().to("cuda:0")
optimizer = torch.optim.RAdam(model.parameters(), lr=s.rate)
for update in range(s.updates):
    for _ in range(s.passes):
        series = torch.randn(s.micro, 4, s.history).to("cuda:0")
        future = torch.randn(s.micro, 24).to("cuda:0")
        loss = nn.functional.huber_loss(model(series), future)
        (loss / s.passes).backward()
    optimizer.step()
    optimizer.zero_grad()
    print(update, loss.item(), flush=True)
if s.checkpoint_dir:
    torch.save(model.state_dict(), os.path.join(s.checkpoint_dir, "forecaster.pt"))
