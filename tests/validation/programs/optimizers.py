"""Trains a multilayer perceptron with one optimizer, in three steps."""

import argparse

import torch
from torch import nn, optim

OPTIMIZERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.01),
    "sgd-momentum": lambda p: optim.SGD(p, lr=0.01, momentum=0.9),
    "sgd-fused": lambda p: optim.SGD(p, lr=0.01, momentum=0.9, fused=True),
    "adam": lambda p: optim.Adam(p),
    "adamw": lambda p: optim.AdamW(p),
    "adamw-loop": lambda p: optim.AdamW(p, foreach=False),
    "adamw-fused": lambda p: optim.AdamW(p, fused=True),
    "adamw-amsgrad": lambda p: optim.AdamW(p, amsgrad=True),
    "adamw-capturable": lambda p: optim.AdamW(p, capturable=True),
    "adafactor": lambda p: optim.Adafactor(p),
    "adagrad": lambda p: optim.Adagrad(p),
    "nadam": lambda p: optim.NAdam(p),
    "rmsprop": lambda p: optim.RMSprop(p, momentum=0.9),
    "lbfgs": lambda p: optim.LBFGS(p, max_iter=4, history_size=4),
    "muon": lambda p: optim.Muon([x for x in p if x.ndim == 2]),
}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("optimizer", choices=OPTIMIZERS)
parser.add_argument("--width", type=int, default=4096)
parser.add_argument("--layers", type=int, default=8)
args = parser.parse_args()

with torch.device("cuda"):
    layers = [layer for _ in range(args.layers) for layer in (nn.Linear(args.width, args.width), nn.ReLU())]
model = nn.Sequential(*layers)
optimizer = OPTIMIZERS[args.optimizer](list(model.parameters()))
inputs = torch.randn(512, args.width, device="cuda")


def closure():
    """The loss with its gradients."""
    optimizer.zero_grad()
    loss = model(inputs).square().mean()
    loss.backward()
    return loss


for _ in range(3):
    optimizer.step(closure)
