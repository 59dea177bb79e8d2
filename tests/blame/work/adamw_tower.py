# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "optimizer"
# first_finding = ["optimizer-state", "need-exceeds-device"]
# lines = [40]
# why = "20 x 4096 x 4096 x 4 B = 1280 MiB of weights and as much of gradients fit; AdamW adds two moments (2560 MiB: 5120 in all) and in its step the square roots of one (1280 MiB): 6400 + 410 of 6144 MiB"
# ///
"""Regression of molecular energies from fingerprints with a deep, wide tower."""

import torch
from torch import nn

WIDTH, DEPTH = 4096, 20


def tower():
    layers = []
    for _ in range(DEPTH):
        layers += [nn.Linear(WIDTH, WIDTH, bias=False, device="cuda"), nn.SiLU()]
    return nn.Sequential(*layers, nn.Linear(WIDTH, 1, device="cuda"))


def fingerprints(count, batch=64):
    for _ in range(count):
        bits = torch.randint(0, 2, (batch, WIDTH)).float()
        yield bits.cuda(), torch.randn(batch, 1).cuda()


def main():
    torch.manual_seed(11)
    model = tower()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01)
    for step, (bits, energy) in enumerate(fingerprints(20)):
        optimizer.zero_grad()
        loss = nn.functional.huber_loss(model(bits), energy)
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"{step:3d}  {loss.item():.4f}")


main()
