# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "`model.confusion` computes 80 million scores: 10,000 classes by 8,192 samples x 4 B = 312 MiB, spread over six temperatures to 1.83 GiB, with 1.52 free; the passes before take a few MiB"
# ///
"""Plankton classes by cosine; a descriptor computes the confusion of classes when it is read."""

import torch
from torch import nn


class Measured:
    def __init__(self, function):
        self.function = function

    def __get__(self, owner, kind=None):
        return self if owner is None else self.function(owner)


class Classes(nn.Module):
    def __init__(self):
        super().__init__()
        self.project, self.centre = nn.Linear(20, 32), nn.Parameter(torch.randn(10_000, 32))

    def forward(self, x, classes):
        return nn.functional.cosine_similarity(self.project(x), self.centre[classes])

    @Measured
    @torch.no_grad()
    def confusion(self):
        scores = self.centre @ self.project(torch.randn(8_192, 20, device="cuda")).t()
        warmth = torch.linspace(0.5, 3.0, 6, device="cuda").view(6, 1, 1)
        return (scores / warmth).argmax(dim=1).unique().numel()


model = Classes().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(110_000):
    x, classes = torch.randn(64, 20, device="cuda"), torch.randint(10_000, (64,), device="cuda")
    optimizer.zero_grad()
    (1 - model(x, classes)).mean().backward()
    optimizer.step()
seen = model.confusion
print("classes that are seen:", seen)
