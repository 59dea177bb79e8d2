# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "exception"
# first_finding = ["exception-holds-frames"]
# lines = [29, 35, 47, 48]
# why = "a batch of 28672 needs 448 MiB for each of 12 layers and is too large; the stored error's traceback holds its frames and with them 4.9 GiB of activations, so the half batch, which needs 4.3 GiB with weights and gradients (2 x 768), does not find 224 MiB"
# ///
"""Halves the batch once if the first does not fit, and then trains a denoiser of wind measurements."""

import torch
from torch import nn
from torch.nn import functional as F

SENSORS = 4096


class Denoiser(nn.Module):
    def __init__(self, depth=12):
        super().__init__()
        layers = []
        for _ in range(depth):
            layers += [nn.Linear(SENSORS, SENSORS, device="cuda"), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, noisy):
        return self.layers(noisy)


def train_step(model, optimizer, batch):
    clean = torch.randn(batch, SENSORS, device="cuda")
    optimizer.zero_grad()
    loss = F.mse_loss(model(clean + 0.1), clean)
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    model = Denoiser()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batch, failure = 28_672, None
    try:
        train_step(model, optimizer, batch)
    except torch.cuda.OutOfMemoryError as error:
        failure = error
        batch //= 2
    for step in range(5):
        print(step, batch, train_step(model, optimizer, batch))
    if failure is not None:
        print("the batch was halved after:", failure)


if __name__ == "__main__":
    main()
