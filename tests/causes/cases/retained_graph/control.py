"""Training with a validation loss that is computed without a graph."""

import torch
from torch import nn


def main():
    layers = (layer for _ in range(4) for layer in (nn.Linear(1024, 1024), nn.ReLU()))
    model = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    validation = 0.0
    for _ in range(40):
        loss = model(torch.randn(2048, 1024, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        held_out = torch.randn(2048, 1024, device="cuda")
        with torch.no_grad():
            validation += model(held_out).square().mean()


torch.cuda.memory._record_memory_history()
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
