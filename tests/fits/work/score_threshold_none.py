# /// expect
# run = "check"
# vram = "6GiB"
# kind = 6
# truth = "fits"
# verdict = ["fits so far", "does not fit"]
# says = ["score_threshold_none.py:44"]
# need_gib = [0.5, 3.5]
# why = "scores start at sigmoid(-4.6) = 0.01, below 0.5: no box is kept; half of 131,072 boxes in a pairwise IoU would be 65,536^2 x 4 B = 16 GiB"
# ///
"""A RetinaNet-like detector: dense head with prior 0.01, and in evaluation a threshold, then a pairwise IoU of the boxes above it."""

import math

import torch
from torch import nn

ANCHORS, CHANNELS, THRESHOLD = 131072, 256, 0.5


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(CHANNELS, 1)
        self.box = nn.Linear(CHANNELS, 4)
        nn.init.normal_(self.score.weight, std=0.01)
        nn.init.constant_(self.score.bias, -math.log(0.99 / 0.01))

    def forward(self, features):
        return self.score(features).squeeze(-1), self.box(features)


def pairwise_iou(boxes):
    area = (boxes[:, 2:] - boxes[:, :2]).clamp(min=0).prod(1)
    left = torch.maximum(boxes[:, None, 0], boxes[None, :, 0])
    right = torch.minimum(boxes[:, None, 2], boxes[None, :, 2])
    width = (right - left).clamp(min=0)
    return width / (area[:, None] + 1e-6)


@torch.no_grad()
def detect(head, features):
    scores, boxes = head(features)
    kept = boxes[scores.sigmoid() > THRESHOLD]
    if len(kept) == 0:
        return kept
    return kept[pairwise_iou(kept).amax(1) < 0.5]


head = Head().cuda().eval()
for image in range(4):
    features = torch.randn(ANCHORS, CHANNELS, device="cuda")
    print("image", image, "boxes", len(detect(head, features)))
