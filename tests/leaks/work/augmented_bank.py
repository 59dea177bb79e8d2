# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [30]
# keeps_mib = 32
# allocates = [32]
# full_at = [106, 115]
# why = "the bank has one entry per augmentation round and batch, 4096 x 2048 x 4 B = 32 MiB; 20 rounds x 12 batches, passes of the inner loop are counted over all rounds"
# ///
"""A nearest-neighbour bank of image features: each round sees the images in another augmentation and adds its own entries."""

import torch
import torch.nn.functional as F
from torch import nn

IMAGES, PIXELS, WIDTH, ROUNDS, BATCHES = 4096, 768, 2048, 20, 12


def augment(images, strength):
    return images + strength * torch.randn_like(images)


@torch.no_grad()
def fill(backbone):
    bank = {}
    for round_ in range(ROUNDS):
        for batch in range(BATCHES):
            images = augment(torch.rand(IMAGES, PIXELS, device="cuda"), 0.01 * round_)
            bank[round_, batch] = F.normalize(backbone(images), dim=1)
    return bank


backbone = nn.Sequential(nn.Linear(PIXELS, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH)).cuda()
print("entries", len(fill(backbone)))
