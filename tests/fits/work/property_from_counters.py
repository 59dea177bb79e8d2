# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.4, 1.0]
# why = "`accuracy` divides two Python numbers; all steps are equal, a few MiB"
# ///
"""Gesture classifier; accuracy is a property over counters on the host."""

import torch
from torch import nn


class Tally:
    def __init__(self):
        self.right = self.seen = 0

    def add(self, logits, labels):
        self.right += (logits.argmax(1) == labels).sum().item()
        self.seen += len(labels)

    @property
    def accuracy(self):
        return self.right / max(self.seen, 1)


tally = Tally()
net = nn.Sequential(nn.Conv1d(6, 32, 9, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 60, 8)).cuda()
optimizer = torch.optim.Adamax(net.parameters())
for step in range(150):
    gesture = torch.randn(32, 6, 128, device="cuda")
    label = torch.randint(8, (32,), device="cuda")
    logits = net(gesture)
    loss = nn.functional.cross_entropy(logits, label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    tally.add(logits.detach(), label)
print(f"accuracy {tally.accuracy:.2%}")
