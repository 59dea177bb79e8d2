"""Training with a validation loss that is summed up with its graph: nothing ever calls backward on it."""

# /// expect
# rule = "retained-graph"
# ///

import torch
from torch import nn


def main():
    layers = (layer for _ in range(4) for layer in (nn.Linear(1024, 1024), nn.ReLU()))
    model = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    validation = 0.0
    for _ in range(200):
        loss = model(torch.randn(2048, 1024, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        held_out = torch.randn(2048, 1024, device="cuda")  # the cause
        validation += model(held_out).square().mean()  # the cause


torch.cuda.memory._record_memory_history()
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
