"""Trains a fully convolutional network for segmentation, set up by a YAML file."""
import argparse

import torch
import torch.nn as nn
import yaml


def conv(cin, cout, stride=1):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, stride, 1), nn.GroupNorm(8, cout), nn.ReLU())


class FCN(nn.Module):
    def __init__(self, width, depth, classes):
        super().__init__()
        self.stem = conv(3, width)
        self.down = conv(width, 2 * width, 2)
        self.body = nn.Sequential(*[conv(2 * width, 2 * width) for _ in range(depth)])
        self.up = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.head = nn.Sequential(conv(2 * width, width), nn.Conv2d(width, classes, 1))

    def forward(self, x):
        s = self.stem(x)
        y = self.up(self.body(self.down(s)))
        return self.head(torch.cat([s, y], 1))


def train(cfg):
    data, loop = cfg["data"], cfg["loop"]
    net = FCN(cfg["model"]["width"], cfg["model"]["depth"], data["classes"]).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=float(loop["lr"]), momentum=0.9)
    parts = loop["micro_batches"]
    for step in range(loop["steps"]):
        image = torch.rand(data["batch"], 3, data["crop"], data["crop"])
        label = torch.randint(data["classes"], (data["batch"], data["crop"], data["crop"]))
        opt.zero_grad()
        for x, y in zip(image.chunk(parts), label.chunk(parts)):
            out = net(x.cuda())
            loss = nn.functional.cross_entropy(out, y.cuda()) * (len(x) / len(image))
            loss.backward()
        opt.step()
        print(f"{cfg['name']}: {step}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", required=True)
    with open(parser.parse_args().config) as f:
        train(yaml.safe_load(f))
