"""empty_cache() after each step, as guides advise: everything is taken from CUDA anew."""

# /// expect
# rule = "allocator-setting-harmful"
# vram = "4GiB"
# text = []
# ///

import torch
from torch import nn


def main():
    layers = (layer for _ in range(8) for layer in (nn.Linear(1024, 1024), nn.ReLU()))
    model = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(20):
        loss = model(torch.randn(8192, 1024, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.empty_cache()  # the cause


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
