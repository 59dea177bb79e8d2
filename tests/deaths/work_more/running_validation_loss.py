# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 31
# requested_bytes = 268435456
# says_any = ["no_grad", "graph"]
# culprit = 31
# steps = 4
# ///
"""Adds up a validation loss with its graph: each of the batches keeps its hidden layer of 256 MiB and its input of 16 MiB."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import nn

FEATURES, HIDDEN, CLASSES = 256, 4096, 10


class Net(nn.Module):
    """A perceptron with one hidden layer."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(FEATURES, HIDDEN), nn.Linear(HIDDEN, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.up(x)
        return self.down(hidden.relu_())


def batches(count: int, rows: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for _ in range(count):
        yield torch.randn(rows, FEATURES, device="cuda"), torch.zeros(rows, dtype=torch.long, device="cuda")


def validate(net: nn.Module) -> float:
    net.eval()
    total = torch.zeros((), device="cuda")
    for x, labels in batches(40, 16384):
        total = total + F.cross_entropy(net(x), labels)
    return total.item() / 40


net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, labels in batches(4, 256):
    optimizer.zero_grad()
    F.cross_entropy(net(x), labels).backward()
    optimizer.step()
print("validation loss", validate(net))
