# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [29]
# keeps_mib = 64
# allocates = [23]
# full_at = [118, 123]
# why = "the list comprehension keeps 16 x 1024 x 1024 x 4 B = 64 MiB of attention for each of 160 images: 10 GiB"
# ///
"""An atlas of attention maps: the maps of all heads for every image of a collection, to be sorted by entropy."""

import torch
from torch import nn

HEADS, PATCHES, WIDTH, IMAGES = 16, 1024, 768, 160


def attention_map(query, key, patches):
    q, k = (f(patches).view(PATCHES, HEADS, -1).transpose(0, 1) for f in (query, key))
    return (q @ k.transpose(1, 2) * (WIDTH // HEADS) ** -0.5).softmax(-1)


@torch.no_grad()
def atlas(images):
    query, key = nn.Linear(WIDTH, WIDTH).cuda(), nn.Linear(WIDTH, WIDTH).cuda()
    maps = [attention_map(query, key, torch.randn(PATCHES, WIDTH, device="cuda")) for _ in range(images)]
    entropies = [-(m * m.clamp_min(1e-9).log()).sum().item() for m in maps]
    return sorted(range(images), key=entropies.__getitem__)


print(atlas(IMAGES)[:10])
