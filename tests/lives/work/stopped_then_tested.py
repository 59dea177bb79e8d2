# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["end"]
# line = 36
# form = "for over epochs with break on a loss, test after it"
# need_gib = [8.4, 9.0]
# why = "whenever the loss stops to fall, the test comes: 65,536 x 16,384 x 4 B = 4 GiB of scores, and their copy for the softmax, 4 GiB, with 3.55 free"
# ///
"""Stops early, at an epoch that only the losses know; then all of the test set is scored in one call."""

import torch
from torch import nn

scorer = nn.Linear(40, 16_384).cuda()
optimizer = torch.optim.SGD(scorer.parameters(), lr=0.2)
previous = None
for epoch in range(6):
    total = torch.zeros((), device="cuda")
    for _ in range(200):
        x = torch.randn(8, 40, device="cuda")
        loss = nn.functional.cross_entropy(scorer(x), torch.zeros(8, dtype=torch.long, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    mean = total.item() / 200
    if previous is not None and mean > 0.999 * previous:
        print("no better in epoch", epoch)
        break
    previous = mean

with torch.no_grad():
    scores = scorer(torch.randn(65_536, 40, device="cuda"))
    print(scores.softmax(1).amax().item())
