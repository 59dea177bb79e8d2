# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "stale-gradients"
# first_finding = ["gradients-alive-in-forward"]
# lines = [45, 46]
# saves_mib = 1920
# why = "30 layers of 4096 x 4096 x 4 B are 1920 MiB with gradients as large, which nothing clears between the last step and the validation; its forward holds five tensors of 32768 x 4096 x 4 B = 512 MiB, 2560 MiB: 6400 of 5734 MiB; without the gradients 4480"
# ///
"""Risk scores from gene variants with SGD, validated on a large batch after each epoch."""

import torch
from torch import nn
import torch.nn.functional as F

WIDTH, DEPTH = 4096, 30


class RiskNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH, bias=False, device="cuda") for _ in range(DEPTH))
        self.risk = nn.Linear(WIDTH, 1, device="cuda")

    def forward(self, variants):
        x = variants
        for layer in self.layers:
            gate = torch.sigmoid(x)
            x = x + gate * layer(x)
        return self.risk(x)


def genomes(people):
    return torch.randn(people, WIDTH, device="cuda"), torch.rand(people, 1, device="cuda")


def train_epoch(model, optimizer, steps):
    model.train()
    for _ in range(steps):
        variants, risk = genomes(people=512)
        optimizer.zero_grad()
        loss = F.mse_loss(model(variants), risk)
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def validate(model):
    model.eval()
    variants, risk = genomes(people=32768)
    return F.mse_loss(model(variants), risk).item()


model = RiskNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    print(epoch, train_epoch(model, optimizer, steps=2), validate(model))
