# /// expect
# run = "run"
# vram = "4GiB"
# ends = "signal 6"
# status = 134
# says_any = ["sigabrt", "signal 6", "abort"]
# culprit = 17
# steps = 1
# ///
"""A C library calls abort() after the first step, as a failed assertion of native code does."""

import ctypes

import torch

libc = ctypes.CDLL(None)
volume = torch.zeros(1, 1, 640, 1024, 1024, device="cuda")
scale = torch.ones(1, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([scale], lr=1.0)

for step in range(3):
    loss = (volume[..., :64, :64] * scale).mean()
    loss.backward()
    optimizer.step()
    print("step", step, flush=True)
    libc.abort()
