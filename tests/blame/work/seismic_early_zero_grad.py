# /// expect
# run = "check"
# vram = "6GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "stale-gradients"
# no_finding = ["gradients-alive-in-forward"]
# why = "1536 MiB of weights and 120 MiB for each of 24 outputs and at most three more at once: 1536 + 27 x 120 = 4776 + 410 of 6144 MiB; gradients come as activations go, and are dropped before the next forward"
# ///
"""Inverts seismic traces with a deep tower; gradients are dropped as soon as the step has used them."""

import torch
from torch import nn

TRACE, DEPTH, BATCH = 4096, 24, 7680


class Inversion(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(TRACE, TRACE, bias=False, device="cuda") for _ in range(DEPTH))
        self.velocity = nn.Linear(TRACE, 16, device="cuda")

    def forward(self, trace):
        for layer in self.layers:
            trace = torch.relu(layer(trace))
        return self.velocity(trace)


model = Inversion()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
criterion = nn.L1Loss()
for number in range(6):
    trace = torch.randn(BATCH, TRACE, device="cuda")
    loss = criterion(model(trace), torch.zeros(BATCH, 16, device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(number, loss.item())
