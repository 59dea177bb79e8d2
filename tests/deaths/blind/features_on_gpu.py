# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 28
# requested_bytes = 1073741824
# says_any = ["features"]
# culprit = 28
# ///
"""Extracts features without gradients, and leaves the features of every batch on the GPU."""

import torch
from torch import nn

encoder = nn.Linear(128, 4096).to("cuda").eval()


def batches():
    while True:
        yield torch.empty(65536, 128, device="cuda")


@torch.no_grad()
def extract(count):
    features = []
    for number, batch in zip(range(count), batches()):
        features.append(encoder(batch))
        print("batch", number, "of", count)
    return torch.cat(features).cpu()


extract(50)
