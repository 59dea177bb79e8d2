# /// expect
# run = "check"
# vram = "8GiB"
# kind = 6
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says = ["nms_of_everything.py:43"]
# need_gib = [12, 90]
# why = "softmax over two classes gives about 0.5, all above 0.05: 57,344 boxes and overlaps of 57,344^2 x 4 B = 12.3 GiB; half of them need 3.1 GiB, twice"
# ///
"""Matrix NMS of SOLO over every box whose score is above 0.05; an untrained network passes all."""

import torch
from torch import nn

BOXES, CHANNELS, THRESHOLD, IMAGES = 57_344, 64, 0.05, 5


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.classify = nn.Linear(CHANNELS, 2)
        self.centre = nn.Linear(CHANNELS, 1)
        nn.init.normal_(self.classify.weight, std=0.01)
        nn.init.zeros_(self.classify.bias)

    def forward(self, x):
        return self.classify(x).softmax(1)[:, 1], self.centre(x).squeeze(1)


def matrix_nms(scores, centres):
    order = scores.argsort(descending=True)
    overlap = torch.outer(centres[order], centres[order])
    decay = overlap.triu_(1).amax(0)
    return scores[order] * torch.exp(-decay)


model = Detector().cuda().eval()
with torch.inference_mode():
    for image in range(IMAGES):
        scores, centres = model(torch.randn(BOXES, CHANNELS, device="cuda"))
        passed = scores > THRESHOLD
        kept = matrix_nms(scores[passed], centres[passed])
        print("image", image, "best", kept.max().item())
