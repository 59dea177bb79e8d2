"""A small model and a batch whose activations do not fit."""

# /// expect
# rule = "batch-too-large"
# vram = "4GiB"
# ///

import torch
from torch import nn


def main():
    layers = (layer for _ in range(16) for layer in (nn.Linear(1024, 1024), nn.GELU()))
    model = nn.Sequential(*layers, nn.Linear(1024, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        x = torch.randn(32768, 1024, device="cuda")
        y = torch.randint(10, (32768,), device="cuda")
        loss = nn.functional.cross_entropy(model(x), y)  # the cause
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
