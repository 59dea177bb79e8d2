"""Adam on a model that fits with its gradients: the two moments do not."""

# /// expect
# rule = "optimizer-state"
# text = ["optimizer-state", "need-exceeds-device", "fragmentation", "unclear"]
# ///

import torch
from torch import nn


def main():
    model = nn.Sequential(*(nn.Linear(4096, 4096) for _ in range(12))).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for _ in range(3):
        loss = model(torch.randn(64, 4096, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()  # the cause
        optimizer.zero_grad()


torch.cuda.memory._record_memory_history()
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
