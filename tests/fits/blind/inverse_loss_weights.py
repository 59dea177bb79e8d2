# /// expect
# run = "check"
# vram = "6GiB"
# kind = 10
# truth = "fits"
# verdict = ["fits"]
# need_gib = [1.0, 3.8]
# why = "three heads on 65,536 x 1024 x 4 B = 0.25 GiB; weights of the tasks are the inverse of their losses and change no size"
# ///
"""Multi-task training with each loss weighted by the inverse of its last value."""

import torch
from torch import nn

ROWS, WIDTH, TASKS, STEPS = 65536, 1024, 3, 4


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU())
        self.heads = nn.ModuleList([nn.Linear(WIDTH, 1) for _ in range(TASKS)])

    def losses(self, x, targets):
        h = self.trunk(x)
        return [nn.functional.mse_loss(head(h).squeeze(1), target) for head, target in zip(self.heads, targets)]


model = MultiTask().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
scale = [1.0] * TASKS
for step in range(STEPS):
    x = torch.randn(ROWS, WIDTH, device="cuda")
    losses = model.losses(x, torch.randn(TASKS, ROWS, device="cuda"))
    loss = sum(weight * value for weight, value in zip(scale, losses))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    inverse = [1 / value.item() for value in losses]
    scale = [TASKS * value / sum(inverse) for value in inverse]
print("weights", [round(value, 3) for value in scale])
