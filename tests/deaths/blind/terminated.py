# /// expect
# run = "run"
# vram = "4GiB"
# ends = "signal 15"
# status = 143
# says_any = ["sigterm", "signal 15", "terminated"]
# culprit = 28
# steps = 6
# ///
"""Gets SIGTERM from its own watchdog after six steps, as from a scheduler at the end of the allotted time."""

import os
import signal

import torch


class Watchdog:
    def __init__(self, limit):
        self.left = limit

    def tick(self):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGTERM)


teacher = torch.nn.Linear(16384, 16384, bias=False, device="cuda").requires_grad_(False)
student = torch.nn.Linear(16384, 64, device="cuda")
optimizer = torch.optim.AdamW(student.parameters(), lr=1e-4)
watchdog = Watchdog(limit=6)
while True:
    inputs = torch.randn(128, 16384, device="cuda")
    (student(inputs) - teacher(inputs)[:, :64]).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    watchdog.tick()
