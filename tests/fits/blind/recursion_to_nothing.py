# /// expect
# run = "check"
# vram = "4GiB"
# kind = 9
# truth = "does not fit"
# verdict = ["does not fit"]
# need_gib = [4.9, 90]
# why = "weights and gradients alone are 2 x 24 x 64 MiB = 3 GiB, Adam's moments 3 GiB: no batch size helps, and at 0 the program gives up"
# ///
"""Halves the batch by recursion down to nothing: what does not fit is the optimizer's state."""

import torch
from torch import nn

WIDTH, DEPTH, STEPS = 4096, 24, 20


def train(model, batch_size):
    if batch_size == 0:
        raise MemoryError("not even one row fits")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    try:
        for _ in range(STEPS):
            x = torch.randn(batch_size, WIDTH, device="cuda")
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
        return batch_size
    except torch.cuda.OutOfMemoryError:
        pass
    del optimizer
    torch.cuda.empty_cache()
    return train(model, batch_size // 2)


with torch.device("cuda"):
    network = nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(DEPTH)])
print("batch size", train(network, 64))
