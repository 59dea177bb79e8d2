# /// expect
# run = "run"
# vram = "4GiB"
# ends = "signal 14"
# status = 142
# says_any = ["sigalrm", "signal 14", "alarm"]
# culprit = 20
# steps = 3
# ///
"""Waits for a batch that its producer never delivers; the watchdog's SIGALRM ends it after three seconds."""

import queue
import signal
import threading

import torch
from torch import nn

batches: queue.Queue[torch.Tensor] = queue.Queue(maxsize=1)
bank = torch.zeros(49152, 8192, device="cuda")


def produce() -> None:
    """Delivers three batches, then waits for an event that nobody sets."""
    for number in range(3):
        batches.put(bank[number * 1024 : (number + 1) * 1024])
    threading.Event().wait()


def train() -> None:
    """Trains on each batch."""
    net = nn.Sequential(nn.Linear(8192, 128), nn.GELU(), nn.Linear(128, 1)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(1000):
        signal.alarm(3)
        loss = net(batches.get()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step, flush=True)


threading.Thread(target=produce, daemon=True).start()
train()
