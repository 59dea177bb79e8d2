"""Shapes that depend on values: nonzero, masked_select, a boolean index, unique and NMS."""

import torch
import torchvision

x = torch.randn(512, 512, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([x], lr=0.1)
for _ in range(3):
    positive = x > 0
    indices = positive.nonzero()
    selected = torch.masked_select(x, positive)
    indexed = x[positive]
    values = torch.unique(x.detach().round())
    corners = torch.rand(1000, 2, device="cuda")
    boxes = torch.cat([corners, corners + 0.1], dim=1)
    kept = torchvision.ops.nms(boxes, torch.rand(1000, device="cuda"), 0.5)
    loss = selected.square().sum() + indexed.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(len(indices), len(values), len(kept))
