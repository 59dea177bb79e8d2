# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# grows = false
# why = "what is kept are arrays of the host; the device has at most three tensors of 36 MiB in each of 20 passes"
# ///
"""Predicts depth for twenty views and keeps each as an array of NumPy."""

import numpy as np
import torch
from torch import nn

net = nn.Linear(9, 9).cuda()
depths: list[np.ndarray] = []
spread = {}
with torch.inference_mode():
    for view in range(20):
        rays = torch.randn(1 << 20, 9, device="cuda")
        depth = net(rays).exp_()
        depths.append(depth.cpu().numpy())
        spread[view] = depth.std().item()
print(np.stack([d[:10] for d in depths]).shape, len(spread))
