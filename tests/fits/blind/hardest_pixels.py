# /// expect
# run = "check"
# vram = "7GiB"
# kind = 6
# truth = "fits"
# verdict = ["fits"]
# need_gib = [2.0, 5.6]
# why = "logits 8 x 19 x 1024 x 1024 x 4 B = 0.6 GiB, log_softmax and two gradients as much; topk takes a known number of pixels"
# ///
"""Segmentation with online hard example mining: topk of the losses, a tenth of the pixels."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, SIDE, CLASSES, TENTH, STEPS = 8, 1024, 19, 10, 3


class OhemLoss(nn.Module):
    def forward(self, logits, labels):
        losses = F.cross_entropy(logits, labels, reduction="none").flatten()
        hardest, _ = losses.topk(losses.numel() // TENTH)
        return hardest.mean()


model = nn.Conv2d(3, CLASSES, 3, padding=1).cuda()
objective = OhemLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(STEPS):
    images = torch.rand(BATCH, 3, SIDE, SIDE, device="cuda")
    labels = torch.randint(CLASSES, (BATCH, SIDE, SIDE), device="cuda")
    loss = objective(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
