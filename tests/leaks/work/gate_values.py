# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [48]
# keeps_mib = 96
# allocates = [50]
# full_at = [34, 38]
# why = "a hook on each of 3 gates adds its output, 8192 x 1024 x 4 B = 32 MiB, to a list of the class; 96 MiB for each of 60 batches"
# ///
"""A study of gates: hooks on all gates of a stack collect their outputs in a list that all watchers share."""

import torch
from torch import nn

ROWS, WIDTH, LAYERS, BATCHES = 8192, 1024, 3, 60


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return torch.sigmoid(self.linear(x))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.value, self.gate = nn.Linear(WIDTH, WIDTH), Gate()

    def forward(self, x):
        return self.value(x) * self.gate(x)


class Watcher:
    outputs = []

    def __call__(self, module, inputs, output):
        self.outputs.append(output.detach())


def study(stack, batches):
    handles = [m.register_forward_hook(Watcher()) for m in stack.modules() if isinstance(m, Gate)]
    for number in range(batches):
        with torch.no_grad():
            stack(torch.randn(ROWS, WIDTH, device="cuda"))
    for handle in handles:
        handle.remove()
    return len(Watcher.outputs)


print("gates seen", study(nn.Sequential(*[Layer() for _ in range(LAYERS)]).cuda(), BATCHES))
