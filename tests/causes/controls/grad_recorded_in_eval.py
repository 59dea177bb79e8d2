"""Evaluation of a deep model with no_grad."""

import torch
from torch import nn


def main():
    layers = (layer for _ in range(24) for layer in (nn.Linear(1024, 1024), nn.ReLU()))
    model = nn.Sequential(*layers).cuda()
    model.eval()
    correct = 0
    for _ in range(4):
        images = torch.randn(32768, 1024, device="cuda")
        labels = torch.randint(1024, (32768,), device="cuda")
        with torch.no_grad():
            correct += (model(images).argmax(dim=1) == labels).sum().item()


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
