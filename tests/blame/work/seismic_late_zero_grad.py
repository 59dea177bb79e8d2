# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "stale-gradients"
# first_finding = ["gradients-alive-in-forward"]
# lines = [42, 44, 45]
# saves_mib = 1408
# why = "24 x 4096^2 x 4 B = 1536 MiB of weights, the last step's gradients as much, and 8192 x 4096 x 4 B = 128 MiB for each of 24 layers' outputs, the inputs and one more: 3072 + 26 x 128 = 6400 + 410 of 6144 MiB; with the gradients dropped before the forward the peak is at the start of the backward, 1536 + 27 x 128 = 4992"
# ///
"""Inverts seismic traces with a deep tower; gradients are cleared right before the backward pass."""

import torch
from torch import nn

TRACE, DEPTH, BATCH = 4096, 24, 8192


class Inversion(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(TRACE, TRACE, bias=False, device="cuda") for _ in range(DEPTH))
        self.velocity = nn.Linear(TRACE, 16, device="cuda")

    def forward(self, trace):
        for layer in self.layers:
            trace = torch.relu(layer(trace))
        return self.velocity(trace)


def shots(count):
    for _ in range(count):
        yield torch.randn(BATCH, TRACE, device="cuda"), torch.randn(BATCH, 16, device="cuda")


def main():
    model = Inversion()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    criterion = nn.L1Loss()
    for number, (trace, velocity) in enumerate(shots(10)):
        prediction = model(trace)
        loss = criterion(prediction, velocity)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(number, loss.item())


if __name__ == "__main__":
    main()
