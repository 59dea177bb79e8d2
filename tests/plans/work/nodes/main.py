"""Trains a deep residual MLP on node features; settings come from a JSON file."""
import json
import sys
from types import SimpleNamespace

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Residual(nn.Module):
    def __init__(self, d, expand):
        super().__init__()
        self.net = nn.Sequential(
            nn.LayerNorm(d), nn.Linear(d, expand * d), nn.SiLU(),
            nn.Linear(expand * d, expand * d), nn.SiLU(), nn.Linear(expand * d, d),
        )

    def forward(self, x):
        return x + self.net(x)


class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.inp = nn.Linear(cfg.features, cfg.hidden)
        self.blocks = nn.ModuleList(Residual(cfg.hidden, cfg.expand) for _ in range(cfg.blocks))
        self.out = nn.Linear(cfg.hidden, cfg.targets)
        self.save_memory = cfg.checkpointing

    def forward(self, x):
        x = self.inp(x)
        for block in self.blocks:
            if self.save_memory and self.training:
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        return self.out(x)


def load(path):
    with open(path) as file:
        return json.load(file, object_hook=lambda d: SimpleNamespace(**d))


def main(path):
    cfg = load(path)
    torch.manual_seed(cfg.seed)
    model = Net(cfg.model).to("cuda")
    optim = torch.optim.AdamW(model.parameters(), lr=cfg.optim.lr)
    for epoch in range(cfg.epochs):
        for _ in range(cfg.batches):
            x = torch.randn(cfg.nodes, cfg.model.features)
            y = torch.randn(cfg.nodes, cfg.model.targets)
            loss = nn.functional.smooth_l1_loss(model(x.cuda()), y.cuda())
            optim.zero_grad(set_to_none=True)
            loss.backward()
            optim.step()
        print(f"epoch {epoch}: {loss.item():.4f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "settings.json")
