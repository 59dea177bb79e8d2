# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits"]
# not_says = ["so far"]
# need_gib = [4.3, 6.4]
# why = "one pass without gradients: features 64 x 64 x 512 x 512 x 4 B would be 4 GiB, in half precision 2 GiB, and two of them at once"
# ///
"""Classifies one batch in half precision and ends."""

import torch
from torch import nn

BATCH, SIDE, CHANNELS, CLASSES = 64, 512, 64, 1000


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, CHANNELS, 3, padding=1)
        self.head = nn.Linear(CHANNELS, CLASSES)

    def forward(self, x):
        return self.head(torch.relu(self.stem(x)).mean((2, 3)))


with torch.inference_mode():
    model = Net().half().cuda().eval()
    images = torch.rand(BATCH, 3, SIDE, SIDE, device="cuda", dtype=torch.half)
    print("classes", model(images).argmax(1).tolist()[:4])
