# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 19
# requested_bytes = 805306368
# says_any = ["fraction", "limit"]
# culprit = 19
# ///
"""Limits itself to half of the device, then fills it: the third tensor of 0.75 GiB is refused with more than 1.5 GiB free."""

import torch

torch.cuda.set_per_process_memory_fraction(0.5)


def load(name):
    weights = torch.zeros(12, 4096, 4096, device="cuda")
    print("loaded", name)
    return weights


models = {name: load(name) for name in ("small", "base", "large", "huge")}
print(sum(weights.nbytes for weights in models.values()))
