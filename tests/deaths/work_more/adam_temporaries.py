# /// expect
# run = "run"
# vram = "2300MiB"
# ends = "oom"
# status = 1
# line = 26
# requested_bytes = 16777216
# says_any = ["optimizer"]
# culprit = 26
# ///
"""The first step of AdamW: its state of 896 MiB has room beside the 896 MiB of parameters and gradients, the square roots of 28 moments have not.

On an H200 `torch._foreach_sqrt` was taken for passes of the training's loop, and its results for tensors that an autograd graph keeps.
"""

import torch
from torch import nn


def main() -> None:
    """Trains for three steps."""
    model = nn.Sequential(*[nn.Linear(2048, 2048, bias=False, device="cuda") for _ in range(28)])
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        model(torch.randn(64, 2048, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


main()
