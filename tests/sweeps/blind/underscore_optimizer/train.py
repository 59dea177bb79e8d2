"""A part of the case `underscore_optimizer`: its verdicts are in `case.json`."""
import argparse

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n_layers, dim=4096):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim, bias=False, device="cuda") for _ in range(n_layers))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--n_layers", type=int, default=8)
    p.add_argument("--batch_size", type=int, default=16)
    p.add_argument("--optimizer", type=str, default="adam", choices=("sgd", "adam"))
    args = p.parse_args()

    net = Net(args.n_layers)
    if args.optimizer == "adam":
        opt = torch.optim.Adam(net.parameters(), lr=1e-4)
    else:
        opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for it in range(4):
        x = torch.randn(args.batch_size, 4096, device="cuda")
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("done", float(loss))


if __name__ == "__main__":
    main()
