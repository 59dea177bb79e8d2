"""Trains a picture encoder with a contrastive loss over two views."""
from typing import Annotated

import torch
import typer
from torch import nn
from torch.nn.functional import cross_entropy, normalize
from torch.utils.checkpoint import checkpoint


class Stage(nn.Module):
    def __init__(self, cin, cout, blocks):
        super().__init__()
        self.shrink = nn.Conv2d(cin, cout, 2, 2)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(cout, cout, 7, padding=3, groups=cout), nn.GroupNorm(1, cout),
                          nn.Conv2d(cout, 4 * cout, 1), nn.GELU(), nn.Conv2d(4 * cout, cout, 1))
            for _ in range(blocks)
        )

    def forward(self, x):
        x = self.shrink(x)
        for block in self.blocks:
            x = x + block(x)
        return x


class Encoder(nn.Module):
    def __init__(self, recompute: bool):
        super().__init__()
        self.recompute = recompute
        self.stages = nn.ModuleList([Stage(3, 64, 2), Stage(64, 128, 2), Stage(128, 256, 4)])
        self.head = nn.Linear(256, 128)

    def forward(self, x):
        for stage in self.stages:
            x = checkpoint(stage, x, use_reentrant=False) if self.recompute else stage(x)
        return normalize(self.head(x.mean((2, 3))), dim=1)


def train(
    batch_size: Annotated[int, typer.Option(help="Pictures per step.")] = 64,
    resolution: int = 96,
    activation_checkpointing: Annotated[bool, typer.Option(help="Recompute each stage in backward.")] = False,
    temperature: float = 0.1,
    steps: int = 6,
    checkpoint_every: Annotated[int, typer.Option(help="Steps between two files, 0 for none.")] = 0,
):
    model = Encoder(activation_checkpointing).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for step in range(steps):
        a = torch.rand(batch_size, 3, resolution, resolution).cuda()
        b = a.flip(3) + 0.1 * torch.randn_like(a)
        logits = model(a) @ model(b).T / temperature
        truth = torch.arange(batch_size, device="cuda")
        loss = (cross_entropy(logits, truth) + cross_entropy(logits.T, truth)) / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if checkpoint_every and step % checkpoint_every == 0:
            torch.save(model.state_dict(), "encoder.pt")


if __name__ == "__main__":
    typer.run(train)
