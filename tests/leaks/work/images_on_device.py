# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = false
# why = "all 110,000 x 3 x 64 x 64 images are 1.26 GiB of bytes and 5.0 GiB of floats, which are requested at once before the first batch"
# ///
"""Features of a small-image set that is moved to the device as a whole before the loop over its batches."""

import torch
from torch import nn

IMAGES, SIDE, BATCH = 110_000, 64, 1000


def main():
    images = torch.zeros(IMAGES, 3, SIDE, SIDE, dtype=torch.uint8)
    images = images.cuda().float().div_(255)
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * SIDE * SIDE, 256)).cuda()
    features = []
    with torch.no_grad():
        for start in range(0, IMAGES, BATCH):
            features.append(model(images[start : start + BATCH]).cpu())
    print(tuple(torch.cat(features).shape))


main()
