"""CUDA graphs: parts of a network captured by `torch.cuda.make_graphed_callables`."""

import torch
from torch import nn

first = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)).cuda()
second = nn.Linear(512, 10).cuda()
sample, hidden = torch.randn(64, 512, device="cuda"), torch.randn(64, 512, device="cuda", requires_grad=True)
first, second = torch.cuda.make_graphed_callables((first, second), ((sample,), (hidden,)))
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1, momentum=0.9)
for _ in range(4):
    x, y = torch.randn(64, 512, device="cuda"), torch.randint(0, 10, (64,), device="cuda")
    optimizer.zero_grad(set_to_none=True)
    nn.functional.cross_entropy(second(first(x)), y).backward()
    optimizer.step()
