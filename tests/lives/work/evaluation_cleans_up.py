# /// expect
# run = "check"
# vram = "6GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["later-steps"]
# form = "a counter in a dataclass"
# need_gib = [2.4, 4.8]
# why = "a step has 2 GiB of noise, an evaluation 4 x 0.5 GiB of features, which end with its function and its empty_cache: never both; the workspace of cuBLAS may split the segment of the first noise, which is then lost: 4 GiB"
# ///
"""Like a run that keeps the features of its evaluation; they are local, and the cache is emptied after each."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Progress:
    step: int = 0
    evaluations: int = 0


def evaluate(model, progress):
    with torch.no_grad():
        features = [model(torch.randn(2048, 256, device="cuda")) for _ in range(4)]
        score = torch.stack([f.mean() for f in features]).mean().item()
    progress.evaluations += 1
    return score


model = nn.Linear(256, 65_536).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
progress = Progress()
while progress.step < 1700:
    noise = torch.randn(8192, 65_536, device="cuda")
    x = torch.randn(16, 256, device="cuda")
    loss = (model(x) - noise[:16]).square().mean()
    del noise
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    progress.step += 1
    if progress.step % 600 == 0:
        torch.cuda.empty_cache()
        print(progress, evaluate(model, progress))
        torch.cuda.empty_cache()
