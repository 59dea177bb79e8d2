# /// expect
# run = "check"
# vram = "3.5GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [2.2, 3.1]
# says = ["112"]
# why = "a window takes 256 x 1280 x 4 B = 1.25 MiB for a map; four blocks save tanh, sigmoid and their product, 12 maps, with the input, the last window and gradients 15: 448 windows need 8.2 GiB, 224 4.1 + 0.48, 112 2.1 + 0.06 for weights + 0.48 of 3.5"
# ///
"""Gated predictor of vibrations; settings are a dict, and the handler of the error halves one of its entries."""

import torch
from torch import nn

settings = {"batch": 448, "steps": 45, "rate": 1e-3, "seed": 11}


class Gated(nn.Module):
    def __init__(self, width=1280):
        super().__init__()
        self.value, self.gate = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return torch.tanh(self.value(x)) * torch.sigmoid(self.gate(x))


torch.manual_seed(settings["seed"])
net = nn.Sequential(*[Gated() for _ in range(4)], nn.Linear(1280, 1)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=settings["rate"])
step = 0
while step < settings["steps"]:
    try:
        optimizer.zero_grad()
        window = torch.randn(settings["batch"], 256, 1280, device="cuda")
        loss = net(window).square().mean()
        loss.backward()
        optimizer.step()
        step += 1
    except torch.cuda.OutOfMemoryError:
        window = loss = None
        settings["batch"] //= 2
        settings["seed"] += 1
        torch.cuda.empty_cache()
        if settings["batch"] < 1:
            raise
print(settings)
