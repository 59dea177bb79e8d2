"""The gradients of the last step are still there while the next forward fills the memory."""

# /// expect
# rule = "gradients-alive-in-forward"
# ///

import torch
from torch import nn


def main():
    layers = (layer for _ in range(12) for layer in (nn.Linear(4096, 4096), nn.ReLU()))
    model = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        x = torch.randn(6144, 4096, device="cuda")
        loss = model(x).square().mean()  # the cause
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
