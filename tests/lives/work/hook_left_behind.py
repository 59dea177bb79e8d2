# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["later-steps"]
# line = 36
# form = "for range with continue, evaluation first in the body"
# need_gib = [11.0, 13.5]
# why = "the evaluation before step 701 hangs a hook on a layer that keeps its output, and never removes it: 1,024 x 4,096 x 4 B = 16 MiB of each of the 700 steps that follow: 11 GiB, full after some 220; the output takes the block of the last gradient, so the gradient is refused"
# ///
"""Examines activations in an evaluation; the hook that collects them is not removed."""

import torch
from torch import nn

seen = []
net = nn.Sequential(nn.Linear(64, 4096), nn.Linear(4096, 1)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)


def collect(module, inputs, output):
    seen.append(output.detach())


for i in range(1401):
    if i == 700:
        net[0].register_forward_hook(collect)
        with torch.no_grad():
            net(torch.randn(1024, 64, device="cuda"))
        print("spread", seen[0].std().item())
        continue
    x = torch.randn(1024, 64, device="cuda")
    loss = net(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
