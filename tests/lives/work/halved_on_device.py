# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["load"]
# form = "for range"
# need_gib = [2.6, 3.1]
# why = "four layers of 11,585 x 11,585 x 4 B = 0.5 GiB are made on the GPU and halved one after the other: 2 GiB and one half of 0.25; afterwards 1 GiB"
# ///
"""A probe on a frozen network, which is made in single precision on the GPU and then cast to half precision."""

import torch
from torch import nn

with torch.device("cuda"):
    trunk = nn.Sequential(*[nn.Linear(11_585, 11_585, bias=False) for _ in range(4)])
    probe = nn.Linear(11_585, 2)
trunk = trunk.half().eval().requires_grad_(False)
optimizer = torch.optim.SGD(probe.parameters(), lr=0.01)
for i in range(1800):
    x = torch.randn(8, 11_585, device="cuda", dtype=torch.float16)
    loss = nn.functional.cross_entropy(probe(trunk(x).float()), torch.randint(2, (8,), device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
