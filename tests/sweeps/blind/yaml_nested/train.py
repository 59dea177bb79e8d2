"""A part of the case `yaml_nested`: its verdicts are in `case.json`."""
import argparse

import torch
import yaml
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.act = nn.GELU()
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(self.act(self.up(x)))


def build(cfg):
    return nn.Sequential(*[Block(cfg["width"]) for _ in range(cfg["depth"])])


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default="config.yaml")
    with open(ap.parse_args().config) as f:
        cfg = yaml.safe_load(f)

    train = cfg["train"]
    model = build(cfg["model"]).to("cuda")
    optim = torch.optim.SGD(model.parameters(), lr=train["optimizer"]["lr"], momentum=train["optimizer"]["momentum"])
    for step in range(train["steps"]):
        x = torch.randn(train["batch"], cfg["data"]["tokens"], cfg["model"]["width"], device="cuda")
        loss = model(x).square().mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
        print("step", step, "loss", loss.item())
