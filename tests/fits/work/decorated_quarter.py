# /// expect
# run = "check"
# vram = "4GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [2.4, 3.5]
# says = ["65,536"]
# why = "a row of six blocks saves seven maps of 4 KiB, with the layer in work and gradients nine to ten: 262,144 rows need over 9 GiB, 65,536 2.25 to 2.5 + 0.05 + 0.48, of 4"
# ///
"""Deep regressor for turbine logs; a decorator of our own shrinks the keyword `rows` when memory runs out."""

import functools

import torch
from torch import nn


def shrinking(keyword, factor):
    def wrap(function):
        @functools.wraps(function)
        def call(**options):
            while options[keyword] > 0:
                try:
                    return function(**options)
                except torch.OutOfMemoryError:
                    pass
                torch.cuda.empty_cache()
                options[keyword] //= factor
            raise MemoryError(keyword)

        return call

    return wrap


blocks = [nn.Sequential(nn.Linear(1024, 1024), nn.Tanh()) for _ in range(6)]
regressor = nn.Sequential(*blocks, nn.Linear(1024, 1)).cuda()
optimizer = torch.optim.SGD(regressor.parameters(), lr=0.01)


@shrinking("rows", 4)
def fit(rows, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        log = torch.randn(rows, 1024, device="cuda")
        regressor(log).abs().mean().backward()
        optimizer.step()
    return rows


print("rows", fit(rows=262_144, steps=40))
