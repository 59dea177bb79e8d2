# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["later-steps"]
# form = "for range, a countdown that is reset"
# need_gib = [1.9, 2.8]
# why = "an evaluation leaves features of 262,144 x 512 x 4 B = 0.5 GiB, made before the earlier ones are freed: 1 GiB; a step has 0.5 GiB for its negatives: 1.5 GiB, and where both meet 2"
# ///
"""Mines negatives from the features of the last evaluation, which take the place of the earlier ones."""

import torch
from torch import nn

encoder = nn.Linear(32, 512, device="cuda")
optimizer = torch.optim.Adam(encoder.parameters())
features, until = None, 350
for _ in range(1800):
    x = torch.randn(16, 32, device="cuda")
    noise = torch.randn(262_144, 512, device="cuda")
    pool = noise if features is None else features
    loss = (encoder(x) @ pool[:1000].T).logsumexp(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del noise, pool
    until -= 1
    if until == 0:
        with torch.no_grad():
            features = encoder(torch.randn(262_144, 32, device="cuda"))
        until = 350
