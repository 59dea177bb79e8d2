# /// expect
# run = "run"
# vram = "4GiB"
# ends = "signal 9"
# status = 137
# says_any = ["sigkill", "signal 9", "killed"]
# culprit = 18
# steps = 3
# ///
"""Is killed with SIGKILL in its fourth step, as by the kernel's out-of-memory killer or a job scheduler."""

import os
import signal

import torch
from torch import nn

features = torch.empty(393216, 1024, device="cuda")
model = nn.Sequential(nn.Linear(1024, 512), nn.Tanh(), nn.Linear(512, 1)).cuda()
optimizer = torch.optim.Adam(model.parameters())

for step in range(10):
    loss = model(features[step * 4096 : (step + 1) * 4096]).mean()
    optimizer.zero_grad()
    loss.backward()
    if step == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    optimizer.step()
    print("step", step, flush=True)
