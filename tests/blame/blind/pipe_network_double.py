# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "loaded-twice"
# first_finding = ["weights-loaded-twice"]
# lines = [29, 31]
# why = "11 layers of 4096^2 x 8 B = 128 MiB are 1408 MiB in float64, which fit into 1638; the pressures of 28 x 1024 x 4096 x 4 B = 448 MiB, made before the cast to float32, do not: 1856; cast first, 704 + 448 and a few maps of 16 MiB are some 1200"
# ///
"""Rolls a surrogate of a water network, calibrated in double precision, over four weeks."""

import torch
from torch import nn

JUNCTIONS, LAYERS, SCENARIOS, DAYS = 4096, 11, 1024, 28


def calibrated():
    torch.manual_seed(4)
    parts = []
    for _ in range(LAYERS):
        parts.append(nn.Linear(JUNCTIONS, JUNCTIONS, dtype=torch.float64))
        parts.append(nn.Tanh())
    return nn.Sequential(*parts).requires_grad_(False)


network = calibrated()
network.to("cuda")
pressures = torch.zeros(DAYS, SCENARIOS, JUNCTIONS, device="cuda")
network.float()

pressures[0] = torch.rand(SCENARIOS, JUNCTIONS)
for day in range(1, DAYS):
    pressures[day] = network(pressures[day - 1])

lowest = pressures.amin(dim=(0, 1)).cpu()
print("junctions below the limit:", int((lowest < -0.9).sum()))
print("worst junction:", int(lowest.argmin()))
