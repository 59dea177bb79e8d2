# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 47
# requested_bytes = 268435456
# says_any = ["self.checkpoint", "torch.load", 38]
# steps = 0
# ///
"""Resumes from a checkpoint that torch.load puts on the GPU and that is kept for its epoch: the weights are there twice."""

import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import nn

WIDTH, LAYERS = 8192, 3


def build() -> nn.Sequential:
    """Returns layers of 256 MiB each, not initialised."""
    return nn.Sequential(*(nn.utils.skip_init(nn.Linear, WIDTH, WIDTH, bias=False) for _ in range(LAYERS)))


def write(path: Path) -> None:
    """Writes a checkpoint of the fourth epoch."""
    torch.save({"epoch": 4, "model": build().state_dict()}, path)


class Run:
    """A training that goes on where it was."""

    def __init__(self, path: Path) -> None:
        self.model = build().cuda()
        self.checkpoint: dict[str, Any] = torch.load(path, map_location="cuda", weights_only=True)
        self.model.load_state_dict(self.checkpoint["model"])
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-4)

    def epoch(self) -> None:
        """Trains for one step."""
        self.optimizer.zero_grad()
        self.model(torch.zeros(16, WIDTH, device="cuda")).square().mean().backward()
        print("backward", flush=True)
        self.optimizer.step()
        self.checkpoint["epoch"] += 1


with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "last.pt"
    write(file)
    run = Run(file)
for _ in range(3):
    run.epoch()
