# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["steps"]
# step = 801
# line = 28
# form = "for range, weight of a schedule > 0"
# need_gib = [10.4, 13.0]
# why = "from step 800 on the weight of the second loss is not zero, and 23,170 x 23,170 x 4 B = 2 GiB of similarities are made; less a shift, 2 GiB more, with 3.55 free; backward of the square has the difference, the gradient of the mean and three products, 10, or 12 with a split segment"
# ///
"""A penalty on all pairs of vectors, whose weight is zero for the first half and then rises."""

import torch
from torch import nn

vectors = nn.Embedding(23_170, 32, device="cuda")
optimizer = torch.optim.SGD(vectors.parameters(), lr=0.1)


def weight_at(step):
    return max(0, step - 799) / 800


def repel():
    similar = vectors.weight @ vectors.weight.T
    return (similar - 0.5).square().mean()


for step in range(1600):
    loss = vectors(torch.randint(23_170, (32,), device="cuda")).square().mean()
    if (weight := weight_at(step)) > 0:
        loss = loss + weight * repel()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
