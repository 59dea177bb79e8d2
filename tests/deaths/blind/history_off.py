# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 24
# requested_bytes = 1127219200
# says_any = ["copies", "ema"]
# culprit = 24
# open = "tensors made before the first iteration are taken for data; a comprehension fills a list"
# ///
"""Turns PyTorch's memory history off, as a library may do at its end, and runs out afterwards."""

import torch

torch.cuda.memory._record_memory_history(max_entries=1000)
warm = torch.ones(1024, device="cuda").sum()
torch.cuda.memory._record_memory_history(enabled=None)

weights = torch.zeros(34400, 8192, dtype=torch.float32, device="cuda")


def average(source, decay):
    ema = source * decay
    return ema


copies = [average(weights, decay) for decay in (0.9, 0.99, 0.999)]
print("copies", len(copies), warm.item())
