# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "copy.deepcopy at step 14,000 caches the targets of 2^20 points of width 768: 3 GiB, with 2.52 free; a step has 260 layers"
# ///
"""Self-distillation with a very deep narrow net: the copy of the student carries its answers to a fixed grid."""

import copy

import torch
from torch import nn


class Student(nn.Module):
    def __init__(self, depth=260, width=32):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.widen = nn.Linear(width, 768)
        self.grid = None

    def forward(self, x):
        for layer in self.layers:
            x = x + 0.05 * torch.tanh(layer(x))
        return self.widen(x)

    def __deepcopy__(self, memo):
        twin = Student(len(self.layers)).cuda()
        twin.load_state_dict(self.state_dict())
        twin.grid = torch.randn(1 << 20, 768, device="cuda")
        return twin.requires_grad_(False)


student, teacher = Student().cuda(), None
optimizer = torch.optim.AdamW(student.parameters(), lr=1e-4)
for step in range(30_000):
    x = torch.randn(16, 32, device="cuda")
    target = x.repeat(1, 24) if teacher is None else teacher(x)
    loss = (student(x) - target).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 14_000:
        teacher = copy.deepcopy(student)
