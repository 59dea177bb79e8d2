# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.4, 0.9]
# why = "the handler sets a flag and the loop ends; each of 150,000 passes has 128 rows: a few MiB"
# ///
"""Ranks adverts; SIGTERM from the queue ends the loop after the current step."""

import signal

import torch
from torch import nn

stop = {"now": False}


def on_term(number, frame):
    stop["now"] = True


signal.signal(signal.SIGTERM, on_term)
ranker = nn.Bilinear(32, 32, 1).cuda()
optimizer = torch.optim.Rprop(ranker.parameters())
for step in range(150_000):
    user, advert = torch.randn(2, 128, 32, device="cuda")
    score = ranker(user, advert).squeeze(1)
    loss = nn.functional.soft_margin_loss(score, (user * advert).sum(1).sign())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 140_000:
        signal.raise_signal(signal.SIGTERM)
    if stop["now"]:
        print("stopped at", step)
        break
