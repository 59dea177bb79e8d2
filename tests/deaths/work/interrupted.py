# /// expect
# run = "run"
# vram = "4GiB"
# ends = "signal 2"
# status = 130
# says_any = ["keyboardinterrupt", "sigint", "interrupt"]
# culprit = 21
# steps = 5
# ///
"""Gets SIGINT, as from Ctrl-C, in its sixth step; the KeyboardInterrupt is not caught."""

import os
import signal

import torch
from torch import nn

# A shell may start background jobs with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

images = torch.zeros(2048, 3, 256, 256, device="cuda")
net = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(10)).cuda()
net(images[:1])
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
try:
    for step in range(100):
        loss = net(images[:8]).mean()
        optimizer.zero_grad()
        loss.backward()
        if step == 5:
            os.kill(os.getpid(), signal.SIGINT)
        optimizer.step()
finally:
    print("stopped in step", step)
