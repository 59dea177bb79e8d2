# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.4, 1.1]
# why = "the state that is saved every 5,000 steps is a copy on the CPU of 36 layers of 64 x 64 weights: no memory of the device"
# ///
"""Encodes molecules as token strings; checkpoints are pickled through __getstate__."""

import torch
from torch import nn


class Session:
    def __init__(self):
        layer = nn.TransformerEncoderLayer(64, 2, 128, dropout=0.0, batch_first=True)
        self.net = nn.TransformerEncoder(layer, 36).cuda()
        self.step = 0

    def __getstate__(self):
        return {"step": self.step, "net": {k: v.cpu() for k, v in self.net.state_dict().items()}}


session = Session()
optimizer = torch.optim.AdamW(session.net.parameters(), lr=1e-4)
while session.step < 40_000:
    x = torch.randn(4, 20, 64, device="cuda")
    loss = (session.net(x) - x.flip(1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    session.step += 1
    if session.step % 5_000 == 0:
        torch.save(session, "session.pt")
