# /// expect
# run = "check"
# vram = "6GiB"
# kind = 4
# truth = "does not fit"
# verdict = ["does not fit"]
# says = ["full at"]
# full_at = [14, 18]
# why = "each batch keeps 64 x 21 x 256 x 256 x 4 B = 0.33 GiB of probabilities, by 200 batches 66 GiB; 5.5 GiB are full at the 16th or so"
# ///
"""Evaluates a segmentation network: the probabilities of all batches are kept on the GPU and joined at the end."""

import torch
from torch import nn

BATCH, CLASSES, SIDE, BATCHES = 64, 21, 256, 200


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.head = nn.Conv2d(8, CLASSES, 1)

    def forward(self, x):
        return self.head(self.stem(x).relu_())


@torch.no_grad()
def evaluate(model):
    model.eval()
    predictions = []
    for _ in range(BATCHES):
        images = torch.randn(BATCH, 3, SIDE, SIDE, device="cuda")
        predictions.append(model(images).softmax(1))
    return torch.cat(predictions).argmax(1)


model = Segmenter().cuda()
print("predicted", tuple(evaluate(model).shape))
