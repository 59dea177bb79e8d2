"""A step that runs out is repeated with half the batch, while the exception still holds the frames of the first try."""

# /// expect
# rule = "exception-holds-frames"
# text = ["exception-holds-frames"]
# control = ["caught-oom"]
# ///

import torch
from torch import nn


def step(model, optimizer, x):
    """One training step."""
    loss = model(x).square().mean()  # the cause
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def main():
    layers = [layer for _ in range(16) for layer in (nn.Linear(1024, 1024), nn.ReLU())]
    model = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(32768, 1024, device="cuda")
    for _ in range(3):
        try:
            step(model, optimizer, x)
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            step(model, optimizer, x[:20000])


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
