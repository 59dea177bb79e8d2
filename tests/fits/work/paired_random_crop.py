# /// expect
# run = "check"
# vram = "6GiB"
# kind = 7
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.6, 4.6]
# why = "crops are 256 to 511 wide: image features 8 x 32 x 511 x 511 x 4 B = 0.25 GiB at most, some six of them"
# ///
"""Crops image and mask by two generators with one seed; both crops must have one size."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, SIDE, LEAST, CLASSES, STEPS = 8, 512, 256, 19, 3


class RandomCrop:
    def __init__(self, seed):
        self.generator = torch.Generator(device="cuda").manual_seed(seed)

    def __call__(self, x):
        size, top, left = torch.rand(3, generator=self.generator, device="cuda").tolist()
        size = LEAST + int(size * (SIDE - LEAST))
        top, left = int(top * (SIDE - size)), int(left * (SIDE - size))
        return x[..., top : top + size, left : left + size]


crop_image, crop_mask = RandomCrop(11), RandomCrop(11)
model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, CLASSES, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(STEPS):
    images = crop_image(torch.rand(BATCH, 3, SIDE, SIDE, device="cuda"))
    masks = crop_mask(torch.randint(CLASSES, (BATCH, SIDE, SIDE), device="cuda"))
    assert images.shape[-2:] == masks.shape[-2:], f"image {tuple(images.shape)}, mask {tuple(masks.shape)}"
    loss = F.cross_entropy(model(images), masks)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
