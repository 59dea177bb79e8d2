# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [9.2, 12]
# why = "weights 16 x 4096 x 4096 x 4 B = 1 GiB, with gradients and momentum 3 GiB; every 20 of 100 steps a copy of 1 GiB is kept, five in all, and one more is the soup"
# ///
"""Model soup: a copy of the weights is kept every twenty steps, and all copies are averaged at the end."""

import torch
from torch import nn

WIDTH, DEPTH, BATCH, EVERY, STEPS = 4096, 16, 32, 20, 100


def ingredients(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def soup(copies):
    return {name: sum(copy[name] for copy in copies) / len(copies) for name in copies[0]}


with torch.device("cuda"):
    model = nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(DEPTH)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
copies = []
for step in range(1, STEPS + 1):
    x = torch.randn(BATCH, WIDTH, device="cuda")
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
    if step % EVERY == 0:
        copies.append(ingredients(model))
model.load_state_dict(soup(copies))
