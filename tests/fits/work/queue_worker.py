# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "each 120,000th step puts \"map\" into the queue, and the worker makes a map of 20,480 x 20,480 x 4 B = 1.56 GiB and its exponential, with 1.52 free"
# ///
"""Contour model with a plotting worker: numbers go through a queue, now and then a request for a map."""

import queue
import threading

import torch
from torch import nn

work = queue.Queue()
contour = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1)).cuda()
optimizer = torch.optim.Adam(contour.parameters())


def plotter():
    while True:
        kind, value = work.get()
        if kind == "end":
            return
        if kind == "map":
            axis = torch.linspace(-1, 1, 20_480, device="cuda")
            height = (axis[:, None] * axis[None, :]).mul_(value).exp()
            print("map", height.mean().item())


worker = threading.Thread(target=plotter)
worker.start()
try:
    for step in range(1, 140_001):
        place = torch.rand(64, 2, device="cuda")
        loss = (contour(place).squeeze(1) - place.prod(1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 1_000 == 0:
            work.put(("loss", loss.item()))
        if step % 120_000 == 0:
            work.put(("map", 2.0))
finally:
    work.put(("end", None))
    worker.join()
