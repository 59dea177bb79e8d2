# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# grows = true
# verdict = ["fits"]
# loop = [22]
# keeps_mib = 30
# allocates = [24]
# full_at = [44, 52]
# why = "a map of 10 x 1024 x 768 x 4 B = 30 MiB of each of 20 tiles is kept: 600 MiB at the end; at 1.52 GiB less 100 for a pass it would be full at about pass 48"
# ///
"""Maps vegetation in twenty tiles of a satellite scene; all maps are kept for the mosaic."""

import torch
from torch import nn

TILES = 20
net = nn.Conv2d(4, 10, 1).cuda().eval()
maps = []
with torch.no_grad():
    for number in range(TILES):
        tile = torch.rand(1, 4, 1024, 768, device="cuda")
        maps.append(net(tile).softmax(1))
print("tiles", len(maps), "last mean", maps[-1].mean().item())
