"""Six compiled blocks, each with a wide activation that the compiler keeps for backward."""

import torch
from torch import nn


class Block(nn.Module):
    """A residual block."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Adds the block's output."""
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


model = torch.compile(nn.Sequential(*[Block(256) for _ in range(6)]).cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(4096, 256, device="cuda")
    model(x).pow(2).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
