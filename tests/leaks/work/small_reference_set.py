# /// expect
# run = "check"
# vram = "8GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# grows = true
# loop = [24]
# allocates = [25]
# keeps_mib = 40
# full_at = [180, 198]
# why = "48 parts of 10,240 x 1024 x 4 B = 40 MiB are kept: 1.9 GiB, and their join the same again: 3.8 GiB of 7.5 GiB"
# ///
"""Reference statistics for image quality: features of a fixed reference set are kept until their mean is known."""

import torch
from torch import nn

ROWS, PIXELS, WIDTH, PARTS = 10_240, 256, 1024, 48


@torch.no_grad()
def statistics(network):
    kept = []
    for _ in range(PARTS):
        kept.append(network(torch.rand(ROWS, PIXELS, device="cuda")))
    features = torch.cat(kept)
    return features.mean(0), features.t() @ features / len(features)


mean, covariance = statistics(nn.Linear(PIXELS, WIDTH).cuda())
print(mean.norm().item(), covariance.trace().item())
