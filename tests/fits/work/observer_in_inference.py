# /// expect
# run = "check"
# vram = "6GiB"
# kind = 8
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.7, 3.6]
# why = "the observer's range is a few units, so some thousand bins; 65,536 x 1024 x 4 B = 0.25 GiB for input and output"
# ///
"""Calibrates a histogram observer for int8: running minimum and maximum are written in place under inference_mode."""

import torch
from torch import nn

ROWS, WIDTH, WIDTH_OF_BIN, BATCHES = 65536, 1024, 1e-3, 8


class HistogramObserver(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("least", torch.zeros(()))
        self.register_buffer("most", torch.zeros(()))

    def forward(self, x):
        low, high = torch.aminmax(x)
        torch.minimum(self.least, low, out=self.least)
        torch.maximum(self.most, high, out=self.most)
        return x

    def histogram(self, x):
        bins = max(1, int((self.most - self.least).item() / WIDTH_OF_BIN))
        return torch.histc(x.flatten(), bins=bins, min=self.least.item(), max=self.most.item() + WIDTH_OF_BIN)


model = nn.Linear(WIDTH, WIDTH).cuda().eval()
observer = HistogramObserver().cuda()
with torch.inference_mode():
    for _ in range(BATCHES):
        activation = observer(model(torch.randn(ROWS, WIDTH, device="cuda")))
    counts = observer.histogram(activation)
print("bins", len(counts))
