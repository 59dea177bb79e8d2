# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [30]
# keeps_mib = 24
# allocates = [24]
# full_at = [100, 111]
# why = "a global dictionary keeps the absolute input gradient of each batch, 64 x 3 x 256 x 128 x 4 B = 24 MiB; 200 batches are 4.7 GiB"
# ///
"""Saliency maps of a fixed scorer: gradients by the input, one map per picture, stored by batch."""

import torch

BATCH, PIXELS, CONCEPTS, LIMIT = 64, 3 * 256 * 128, 32, 200
SALIENCY = {}


def saliency(weights, number):
    pictures = torch.rand(BATCH, PIXELS, device="cuda", requires_grad=True)
    (pictures @ weights).amax(1).sum().backward()
    SALIENCY[f"batch {number}"] = pictures.grad.abs()


def main():
    weights = torch.randn(PIXELS, CONCEPTS, device="cuda")
    number = 0
    while True:
        saliency(weights, number)
        number += 1
        if number == LIMIT:
            break
    print(sorted(SALIENCY)[:3])


main()
