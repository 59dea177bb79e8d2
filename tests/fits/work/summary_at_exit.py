# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.4, 1.0]
# why = "the function that atexit calls writes two numbers of the host to a file; 150 equal steps"
# ///
"""Credit scoring with a summary that is written when the program ends."""

import atexit
import json
from pathlib import Path

import torch
from torch import nn

summary = {"steps": 0, "loss": None}
atexit.register(lambda: Path("summary.json").write_text(json.dumps(summary)))

net = nn.Sequential(nn.Linear(30, 60), nn.PReLU(), nn.Dropout(0.2), nn.Linear(60, 1)).cuda()
optimizer = torch.optim.RAdam(net.parameters())
for summary["steps"] in range(1, 151):
    applicant = torch.randn(256, 30, device="cuda")
    bad = (applicant[:, :3].sum(1, keepdim=True) > 0).float()
    optimizer.zero_grad()
    loss = nn.functional.binary_cross_entropy_with_logits(net(applicant), bad)
    loss.backward()
    optimizer.step()
    summary["loss"] = round(loss.item(), 5)
