# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [45]
# keeps_mib = 56
# allocates = [46]
# full_at = [61, 67]
# why = "one of the callbacks keeps the output, 7168 x 2048 x 4 B = 56 MiB, of each of 110 batches: 6 GiB"
# ///
"""An evaluation loop with callbacks: one counts, one keeps the outputs for a later histogram."""

import torch
from torch import nn

ROWS, WIDTH, OUTPUTS, BATCHES = 7168, 512, 2048, 110


class Counter:
    rows = 0

    def on_batch_end(self, outputs):
        self.rows += len(outputs)


class Histogram:
    def __init__(self):
        self.last = None

    def on_batch_end(self, outputs):
        self.last = (outputs, self.last)

    def on_end(self):
        outputs, _ = self.last
        print("largest output", outputs.max().item())


class Evaluator:
    def __init__(self, model, callbacks):
        self.model, self.callbacks = model, callbacks

    def run(self, batches):
        for _ in range(batches):
            outputs = self.model(torch.randn(ROWS, WIDTH, device="cuda"))
            for callback in self.callbacks:
                callback.on_batch_end(outputs)


counter, histogram = Counter(), Histogram()
with torch.no_grad():
    Evaluator(nn.Linear(WIDTH, OUTPUTS).cuda(), [counter, histogram]).run(BATCHES)
histogram.on_end()
