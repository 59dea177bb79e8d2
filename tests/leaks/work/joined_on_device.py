# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = false
# why = "64 parts of 40 x 512 x 512 x 4 B = 40 MiB are kept on the CPU; after the loop all of them, 2.5 GiB, are requested on the device at once"
# ///
"""Principal directions of features: they are collected on the CPU, then joined and moved to the device as one matrix."""

import torch

IMAGES, TOKENS, WIDTH, PARTS = 40, 512, 512, 64


def features(weight):
    for _ in range(PARTS):
        yield (torch.rand(IMAGES, TOKENS, WIDTH, device="cuda") @ weight).cpu()


weight = torch.randn(WIDTH, WIDTH, device="cuda")
matrix = torch.cat(list(features(weight))).view(-1, WIDTH).cuda()
covariance = matrix.t() @ matrix / len(matrix)
print("trace", covariance.trace().item())
