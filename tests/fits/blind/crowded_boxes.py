# /// expect
# run = "check"
# vram = "8GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [27, 28]
# need_gib = [12, 48]
# why = "the most crowded image has 600 boxes: 16 x 131,072 x 600 pairs x 4 B = 4.7 GiB a matrix, and the four corners of the intersection need several of them at once"
# ///
"""Assigns anchors to boxes: images are padded to the one with most boxes, then all pairs are compared."""

import torch
from torch import nn

IMAGES, ANCHORS, MOST, CHANNELS, STEPS, DATASET = 16, 131_072, 600, 64, 200, 200_000


def dataset():
    counts = torch.randint(1, 12, (DATASET,), generator=torch.Generator().manual_seed(0))
    counts[5] = MOST
    return counts


def iou(anchors, boxes):
    left = torch.maximum(anchors[None, :, None, 0], boxes[:, None, :, 0])
    right = torch.minimum(anchors[None, :, None, 1], boxes[:, None, :, 1])
    inner = (right - left).clamp_(min=0)
    outer = (anchors[:, 1] - anchors[:, 0])[None, :, None] + (boxes[..., 1] - boxes[..., 0])[:, None]
    return inner / (outer - inner + 1e-6)


counts = dataset().cuda()
anchors = torch.rand(ANCHORS, 2, device="cuda").sort(1).values
head = nn.Linear(CHANNELS, 1).cuda()
optimizer = torch.optim.SGD(head.parameters(), lr=0.01)
for step in range(STEPS):
    first = step * IMAGES % (DATASET - IMAGES)
    most = counts[first : first + IMAGES].max().item()
    boxes = torch.rand(IMAGES, most, 2, device="cuda").sort(2).values
    best = iou(anchors, boxes).amax(2)
    score = head(torch.randn(ANCHORS, CHANNELS, device="cuda")).squeeze(1)
    loss = nn.functional.binary_cross_entropy_with_logits(score.expand(IMAGES, -1), (best > 0.5).float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
