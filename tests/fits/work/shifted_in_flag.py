# /// expect
# run = "check"
# vram = "3.5GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [2.0, 2.9]
# says = ["40"]
# why = "an image takes 64 x 192 x 192 x 4 B = 9 MiB for a map; two linear outputs, two GELUs and one gradient are alive, with the image 46 to 48 MiB: 160 images need 7.3 GiB, 80 3.7 + 0.48, 40 1.84 + 0.48 of 3.5"
# ///
"""Restores old photographs with the largest batch of 160, 80, 40, ... that works."""

import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 3)).cuda()
optimizer = torch.optim.Adam(net.parameters())


def step(images):
    photo = torch.rand(images, 192, 192, 3, device="cuda")
    loss = nn.functional.smooth_l1_loss(net(photo), photo)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


images, steps = 160, 0
while steps < 50:
    out_of_memory = False
    try:
        step(images)
        steps += 1
    except torch.OutOfMemoryError:
        out_of_memory = True
    if out_of_memory:
        images >>= 1
        optimizer.zero_grad()
        torch.cuda.empty_cache()
print("images in a batch:", images)
