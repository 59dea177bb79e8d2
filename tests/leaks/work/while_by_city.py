# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# grows = true
# verdict = ["fits"]
# loop = [24]
# keeps_mib = 20
# allocates = [27]
# full_at = [68, 78]
# why = "each of 28 requests keeps 5 x 1024 x 1024 x 4 B = 20 MiB under its city: 560 MiB; 1.52 GiB would be full at about pass 75"
# ///
"""Answers map requests and keeps the answers by city."""

from collections import defaultdict, deque

import torch
from torch import nn

requests = deque(("Bern", "Basel", "Genf", "Chur")[n % 4] for n in range(28))
paint = nn.Linear(5, 5, bias=False).cuda().eval()
answers = defaultdict(list)
with torch.no_grad():
    while requests:
        city = requests.popleft()
        plan = torch.rand(1 << 20, 5, device="cuda")
        answers[city].append(paint(plan))
print({city: len(maps) for city, maps in answers.items()})
