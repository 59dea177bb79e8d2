"""Evaluation in eval mode, and without no_grad: every layer's input is kept for a backward. The longest come last."""

# /// expect
# rule = "grad-recorded-in-eval"
# ///

import torch
from torch import nn


def main():
    layers = (layer for _ in range(24) for layer in (nn.Linear(1024, 1024), nn.ReLU()))
    model = nn.Sequential(*layers).cuda()
    model.eval()
    correct = 0
    for length in range(64, 512, 64):
        tokens = torch.randn(64 * length, 1024, device="cuda")
        labels = torch.randint(1024, (64 * length,), device="cuda")
        correct += (model(tokens).argmax(dim=1) == labels).sum().item()  # the cause


torch.cuda.memory._record_memory_history()
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
