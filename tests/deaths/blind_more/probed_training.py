# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 33
# requested_bytes = 134217728
# says_any = ["features", "hook"]
# culprit = 32
# steps = 27
# ///
"""A forward hook keeps the activation of every step, 128 MiB, though only the latest is read; a backward pass runs out."""

import torch
from probe import Recorder
from torch import nn

ROWS, WIDTH, HIDDEN, CLASSES = 4096, 256, 8192, 10


def build() -> nn.Sequential:
    """Returns a perceptron."""
    return nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, CLASSES)).cuda()


def train(model: nn.Sequential, recorder: Recorder) -> None:
    """Trains with a penalty on the activation's mean."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = torch.zeros(ROWS, WIDTH, device="cuda")
    for step in range(1000):
        optimizer.zero_grad()
        loss = model(rows).square().mean()
        loss.backward()
        optimizer.step()
        print("step", step, "features", tuple(recorder.latest("1").shape), flush=True)


if __name__ == "__main__":
    net = build()
    train(net, Recorder(net, "1"))
